#include "isolate/files/path_walk.h"

namespace gw::isolate {
namespace {

constexpr int kMaxLinks = 40;

class Walk {
 public:
  Walk(const FileTree& tree, Inode start) : tree_(tree), top_(start), at_(start) {}

  OrErrno<ResolvedPath> run(std::string_view path, bool follow_last) {
    if (!push(path)) return refuse(Errno::perm);
    while (!todo_.empty()) {
      std::string_view name = todo_.back();
      todo_.pop_back();
      const Directory* directory = tree_.directory(at_);
      if (directory == nullptr) return refuse(Errno::notdir);
      if (directory->parent == 0) return refuse(Errno::noent);
      if (name == ".") continue;
      if (name == "..") {
        if (at_ == top_ && top_ != FileTree::kRoot) return refuse(Errno::perm);
        at_ = directory->parent;
        continue;
      }
      if (name.size() > FileTree::kMaxNameBytes) return refuse(Errno::nametoolong);
      Inode child = tree_.lookup(at_, name);
      const auto* link = child == 0 ? nullptr : std::get_if<Symlink>(&tree_.node(child).content);
      bool last = todo_.empty();
      if (link != nullptr && (!last || follow_last)) {
        if (++links_ > kMaxLinks) return refuse(Errno::loop);
        if (!push(link->target)) return refuse(Errno::perm);
      } else if (last) {
        return ResolvedPath{.directory = at_, .name = std::string(name), .node = child};
      } else if (child == 0) {
        return refuse(Errno::noent);
      } else {
        at_ = child;
      }
    }
    return ResolvedPath{.directory = at_, .name = "", .node = at_};
  }

 private:
  // Puts the names of a path in front of what is still to do. A slash at its end counts as ".", so that a link to "a/" needs a directory.
  // False: the path leads out of the directory it starts from.
  bool push(std::string_view path) {
    if (path.starts_with('/')) {
      if (top_ != FileTree::kRoot) return false;
      at_ = FileTree::kRoot;
    }
    if (path.ends_with('/')) todo_.push_back(".");
    while (!path.empty()) {
      std::size_t slash = path.rfind('/');
      std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
      if (!name.empty()) todo_.push_back(name);
      path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    }
    return true;
  }

  const FileTree& tree_;
  const Inode top_;  // what is outside of it cannot be reached
  Inode at_;
  std::vector<std::string_view> todo_;  // next one last; views of the path and of link targets
  int links_ = 0;
};

}  // namespace

OrErrno<ResolvedPath> walk(const FileTree& tree, Inode start, std::string_view path, LastLink last_link) {
  if (path.empty()) return refuse(Errno::noent);
  if (path.size() >= FileTree::kMaxPathBytes) return refuse(Errno::nametoolong);
  if (path.find('\0') != std::string_view::npos) return refuse(Errno::inval);
  bool slash = path.ends_with('/');
  std::size_t end = path.find_last_not_of('/');
  std::string_view names = end == std::string_view::npos ? "/" : path.substr(0, end + 1);
  auto resolved = Walk(tree, start).run(names, last_link == LastLink::follow || (slash && last_link == LastLink::keep));
  if (!resolved) return resolved;
  resolved->wants_directory = slash;
  if (slash && resolved->node != 0 && tree.directory(resolved->node) == nullptr) return refuse(Errno::notdir);
  return resolved;
}

}  // namespace gw::isolate
