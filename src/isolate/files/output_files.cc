// What a guest leaves behind: the files under its declared outputs.

#include <algorithm>
#include <set>

#include "isolate/files/file_tree_builder.h"
#include "isolate/isolate.h"

namespace gw::isolate {
namespace {

class OutputWalk {
 public:
  using Visit = std::function<Status(const OutputPiece&)>;

  OutputWalk(const FileTree& files, const Visit& visit) : files_(files), visit_(visit) {}

  // Names are looked up as they stand: a link that the guest has put into the way leads nowhere.
  Status output(std::string_view path) {
    GW_TRY(auto names, split_manifest_path(path));
    Inode at = FileTree::kRoot;
    for (std::string_view name : names) {
      if (files_.directory(at) == nullptr) return ok();
      at = files_.lookup(at, name);
      if (at == 0) return ok();
    }
    return node(std::string(path), at);
  }

 private:
  Status node(const std::string& path, Inode inode) {
    const Node& node = files_.node(inode);
    if (node.read_only()) return ok();
    if (path.size() >= FileTree::kMaxPathBytes)  // which also bounds how deep this goes
      return fail(Kind::guest_fault, "an output has a path of more than {} bytes: '{}...'", FileTree::kMaxPathBytes, path.substr(0, 40));
    if (const auto* directory = std::get_if<Directory>(&node.content)) return this->directory(path, *directory);
    if (const auto* link = std::get_if<Symlink>(&node.content))
      return visit_({.path = path, .type = NodeType::symlink, .bytes = as_bytes(link->target)});
    return file(path, std::get<FileContent>(node.content));
  }

  Status directory(const std::string& path, const Directory& directory) {
    GW_TRY_VOID(visit_({.path = path, .type = NodeType::directory}));
    for (const auto& [name, cookie] : directory.cookies) GW_TRY_VOID(node(path + "/" + name, directory.entries.at(cookie).node));
    return ok();
  }

  Status file(const std::string& path, const FileContent& content) {
    Bytes buffer(std::min<std::uint64_t>(content.size(), OutputPiece::kMaxBytes));
    std::uint64_t offset = 0;
    do {
      std::size_t count = content.read(offset, buffer);
      GW_TRY_VOID(visit_({.path = path,
                          .type = NodeType::file,
                          .offset = offset,
                          .bytes = ByteView(buffer).first(count),
                          .last = offset + count == content.size()}));
      offset += count;
    } while (offset < content.size());
    return ok();
  }

  const FileTree& files_;
  const Visit& visit_;
};

// It is visited with that one then.
bool lies_in_one_of(std::string_view path, const std::set<std::string_view>& others) {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (others.contains(path.substr(0, slash))) return true;
  }
  return false;
}

}  // namespace

Status Isolate::visit_outputs(const std::function<Status(const OutputPiece&)>& visit) {
  return thread_.call([&]() -> Status {
    std::vector<std::string> outputs = wasi_.saved_state().outputs;
    for (std::string& path : outputs) {
      if (path.ends_with('/')) path.pop_back();
    }
    OutputWalk walk(wasi_.files(), visit);
    std::set<std::string_view> all(outputs.begin(), outputs.end());
    for (std::string_view path : all) {
      if (!lies_in_one_of(path, all)) GW_TRY_VOID(walk.output(path));
    }
    return ok();
  });
}

}  // namespace gw::isolate
