#pragma once
// A file system as simple as it can be, to compare the real one with: nodes that point to each other, paths followed one name at a time by
// recursion, no limits, no images.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isolate/wasi/wasi_errno.h"

namespace gw::fuzz {

using isolate::Errno;

struct ModelNode {
  enum class Kind { file, directory, link };
  Kind kind = Kind::file;
  std::vector<std::uint8_t> data;                          // of a file
  std::string target;                                      // of a link
  std::map<std::string, std::shared_ptr<ModelNode>> list;  // of a directory
  std::weak_ptr<ModelNode> parent;                         // of a directory; none once it is removed
  int names = 0;

  bool is_directory() const { return kind == Kind::directory; }
};
using ModelPtr = std::shared_ptr<ModelNode>;

class FileModel {
 public:
  enum class Last { follow, keep, never };
  struct Found {
    Errno error = Errno::success;
    ModelPtr directory, node;  // node: null if there is none of that name
    std::string name;          // empty: it ends in ".", ".." or "/"
    bool slash = false;
  };

  FileModel() : root_(std::make_shared<ModelNode>()) {
    root_->kind = ModelNode::Kind::directory;
    root_->parent = root_;
  }
  ModelPtr root() const { return root_; }

  Found find(const ModelPtr& start, const std::string& path, Last last) const {
    if (path.empty()) return {.error = Errno::noent};
    bool slash = path.back() == '/';
    std::string bare = path;
    while (bare.size() > 1 && bare.back() == '/') bare.pop_back();
    int links = 0;
    Found found = step(start, start, bare, last == Last::follow || (slash && last == Last::keep), links);
    found.slash = slash;
    if (found.error == Errno::success && slash && found.node && !found.node->is_directory()) return {.error = Errno::notdir};
    return found;
  }

  Errno add(const Found& where, const ModelPtr& node) {
    where.directory->list[where.name] = node;
    node->names++;
    if (node->is_directory()) node->parent = where.directory;
    return Errno::success;
  }

  Errno make_directory(const Found& where) {
    if (where.node) return Errno::exist;
    auto made = std::make_shared<ModelNode>();
    made->kind = ModelNode::Kind::directory;
    return add(where, made);
  }

  Errno make_link(const Found& where, const std::string& target, bool leads_out) {
    if (where.node) return Errno::exist;
    if (where.slash) return Errno::noent;
    if (leads_out) return Errno::perm;
    auto made = std::make_shared<ModelNode>();
    made->kind = ModelNode::Kind::link;
    made->target = target;
    return add(where, made);
  }

  Errno unlink(const Found& where) {
    if (where.name.empty()) return Errno::isdir;
    if (!where.node) return Errno::noent;
    if (where.node->is_directory()) return Errno::isdir;
    drop(where);
    return Errno::success;
  }

  Errno remove_directory(const Found& where) {
    if (!where.node) return Errno::noent;
    if (where.name.empty()) return Errno::busy;
    if (!where.node->is_directory()) return Errno::notdir;
    if (!where.node->list.empty()) return Errno::notempty;
    drop(where);
    return Errno::success;
  }

  Errno hard_link(const ModelPtr& node, const Found& where) {
    if (where.node) return Errno::exist;
    if (where.slash) return Errno::noent;
    return node->is_directory() ? Errno::perm : add(where, node);
  }

  Errno rename(const Found& from, const Found& to) {
    if (from.name.empty() || to.name.empty()) return Errno::busy;
    if (!from.node) return Errno::noent;
    bool directory = from.node->is_directory();
    if (to.slash && !directory) return Errno::notdir;
    for (ModelPtr at = to.directory; directory; at = at->parent.lock()) {
      if (at == from.node) return Errno::inval;
      if (at == root_) break;
    }
    if (from.node == to.node) return Errno::success;
    if (to.node && to.node->is_directory() != directory) return directory ? Errno::notdir : Errno::isdir;
    if (to.node && !to.node->list.empty()) return Errno::notempty;
    if (to.node) drop(to);
    drop(from);
    return add(to, from.node);
  }

 private:
  static void drop(const Found& where) {
    where.directory->list.erase(where.name);
    where.node->names--;
    if (where.node->is_directory()) where.node->parent.reset();
  }

  // The rest of a path, from `at`, which must not lead out of `top`.
  Found step(const ModelPtr& top, ModelPtr at, const std::string& path, bool follow_last, int& links) const {
    if (path.starts_with('/')) {
      if (top != root_) return {.error = Errno::perm};
      at = root_;
    }
    std::size_t begin = path.find_first_not_of('/');
    if (begin == std::string::npos) return there(at);
    std::size_t end = std::min(path.find('/', begin), path.size());
    std::string name = path.substr(begin, end - begin);
    std::string rest = end < path.size() ? path.substr(end + 1) : "";
    bool slash_ends = end < path.size() && path.find_first_not_of('/', end) == std::string::npos;
    bool last = end == path.size();
    if (!at->is_directory()) return {.error = Errno::notdir};
    if (!at->parent.lock()) return {.error = Errno::noent};
    if (slash_ends) rest = ".";
    if (name == ".." && at == top && top != root_) return {.error = Errno::perm};
    if (name == "." || name == "..") {
      ModelPtr next = name == "." ? at : at->parent.lock();
      return last ? there(next) : step(top, next, rest.starts_with('/') ? "." + rest : rest, follow_last, links);
    }
    auto entry = at->list.find(name);
    ModelPtr node = entry == at->list.end() ? nullptr : entry->second;
    if (node && node->kind == ModelNode::Kind::link && (!last || follow_last)) {
      if (++links > 40) return {.error = Errno::loop};
      return step(top, at, last ? node->target : node->target + "/" + rest, follow_last, links);
    }
    if (last) return {.directory = at, .node = node, .name = name};
    if (!node) return {.error = Errno::noent};
    return step(top, node, rest.starts_with('/') ? "." + rest : rest, follow_last, links);
  }

  // A path that ends in a directory without naming it.
  static Found there(const ModelPtr& node) { return {.directory = node, .node = node, .name = ""}; }

  ModelPtr root_;
};

}  // namespace gw::fuzz
