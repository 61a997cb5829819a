#include "isolate/files/file_tree_builder.h"

#include "base/check.h"

namespace gw::isolate {
namespace {

Status check_content(const InputEntry& entry) {
  std::uint64_t expected = entry.type == NodeType::file ? entry.size / kChunkBytes + (entry.size % kChunkBytes != 0 ? 1 : 0) : 0;
  if (entry.chunks.size() != expected)
    return fail(Kind::invalid, "the input '{}' has {} pieces, but its size asks for {}", entry.path, entry.chunks.size(), expected);
  if (entry.type != NodeType::symlink) return ok();
  bool sane = !entry.target.empty() && entry.target.size() < FileTree::kMaxPathBytes && entry.target.find('\0') == std::string::npos;
  return sane ? ok() : fail(Kind::invalid, "the target of the link '{}' is not a path", entry.path);
}

decltype(Node::content) content_of(const InputEntry& entry) {
  switch (entry.type) {
    case NodeType::file:
      return InputFile{entry.size, entry.chunks};
    case NodeType::directory:
      return Directory{};
    case NodeType::symlink:
      return Symlink{entry.target};
  }
  return Directory{};
}

}  // namespace

Result<std::vector<std::string_view>> split_manifest_path(std::string_view path) {
  auto wrong = [&](std::string_view why) { return fail(Kind::invalid, "'{}' cannot be a path in the program's tree: {}", path, why); };
  if (path.empty() || path.size() >= FileTree::kMaxPathBytes) return wrong("it is empty or too long");
  if (path.find('\0') != std::string_view::npos) return wrong("it contains a character 0");
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at <= path.size();) {
    std::size_t slash = std::min(path.find('/', at), path.size());
    std::string_view name = path.substr(at, slash - at);
    if (name.empty() || name == "." || name == "..") return wrong("its names must not be empty, '.' or '..'");
    if (name.size() > FileTree::kMaxNameBytes) return wrong("one of its names is longer than 255 bytes");
    names.push_back(name);
    at = slash + 1;
  }
  return names;
}

// The directory of the last name; those that are missing are made.
Result<Inode> FileTreeBuilder::parent_of(std::string_view path) {
  GW_TRY(auto names, split_manifest_path(path));
  names.pop_back();
  Inode at = FileTree::kRoot;
  for (std::string_view name : names) {
    Inode next = tree_.lookup(at, name);
    if (next == 0) {
      auto made = tree_.make(at, name, Directory{});
      if (!made && made.error() == Errno::rofs) return fail(Kind::invalid, "'{}' lies in an input directory, which cannot change", path);
      if (!made) return fail(Kind::overloaded, "the inputs have more than {} files and directories", FileTree::kMaxNodes);
      next = *made;
    }
    if (tree_.directory(next) == nullptr) return fail(Kind::invalid, "'{}' lies below an input that is not a directory", path);
    at = next;
  }
  return at;
}

Status FileTreeBuilder::add(const InputEntry& entry) {
  GW_TRY_VOID(check_content(entry));
  chunks_ += entry.chunks.size();
  if (chunks_ > FileTree::kMaxChunks) return fail(Kind::overloaded, "the inputs are larger than 256 GiB together");
  GW_TRY(Inode parent, parent_of(entry.path));
  std::string_view name = std::string_view(entry.path).substr(entry.path.rfind('/') + 1);
  Inode inode = tree_.lookup(parent, name);
  bool known_directory = inode != 0 && entry.type == NodeType::directory && tree_.directory(inode) != nullptr;
  if (inode != 0 && !known_directory) return fail(Kind::invalid, "the input '{}' is given twice", entry.path);
  if (inode == 0) {
    auto made = tree_.make(parent, name, content_of(entry));
    if (!made) return fail(Kind::overloaded, "the inputs have more than {} files and directories", FileTree::kMaxNodes);
    inode = *made;
  }
  tree_.at(inode).times = {entry.mtime_ns, entry.mtime_ns, entry.mtime_ns};
  tree_.on_wall_clock(entry.mtime_ns);
  return ok();
}

Status FileTreeBuilder::add_inputs(std::span<const InputEntry> inputs) {
  for (const InputEntry& entry : inputs) GW_TRY_VOID(add(entry));
  // Only now: a manifest may name a directory before what is in it.
  for (const InputEntry& entry : inputs) {
    GW_TRY(Inode parent, parent_of(entry.path));
    Inode inode = tree_.lookup(parent, std::string_view(entry.path).substr(entry.path.rfind('/') + 1));
    tree_.at(inode).access = Node::Access::read_only;
  }
  return ok();
}

Status FileTreeBuilder::add_standard_input(const InputEntry& file, DescriptorTable& descriptors) {
  if (file.type != NodeType::file) return fail(Kind::invalid, "the standard input is not a file");
  GW_TRY_VOID(check_content(file));
  if (file.chunks.size() > FileTree::kMaxChunks) return fail(Kind::overloaded, "the standard input is larger than 256 GiB");
  const Inode inode = tree_.next_inode_++;
  tree_.nodes_.emplace(inode, Node{.content = content_of(file), .access = Node::Access::read_only});
  tree_.at(inode).times = {file.mtime_ns, file.mtime_ns, file.mtime_ns};
  tree_.on_wall_clock(file.mtime_ns);
  tree_.open(inode);
  constexpr std::uint64_t kRights = right::kRead | right::kSeek | right::kTell | right::kAdvise | right::kFilestatGet | right::kPoll;
  descriptors.remove(0);
  descriptors.put(0, {.rights = kRights, .node = inode});
  return ok();
}

Status FileTreeBuilder::add_outputs(std::span<const std::string> outputs) {
  for (const std::string& output : outputs) {
    std::string_view path = output;
    bool is_directory = path.ends_with('/');
    if (is_directory) path.remove_suffix(1);
    GW_TRY(Inode parent, parent_of(path));
    std::string_view name = path.substr(path.rfind('/') + 1);
    Inode inode = tree_.lookup(parent, name);
    if (inode != 0 ? tree_.node(inode).read_only() : tree_.node(parent).read_only())
      return fail(Kind::invalid, "the output '{}' is, or lies in, an input, which cannot change", output);
    if (!is_directory || inode != 0) continue;
    if (!tree_.make(parent, name, Directory{}))
      return fail(Kind::overloaded, "the inputs and outputs have more than {} files and directories", FileTree::kMaxNodes);
  }
  return ok();
}

}  // namespace gw::isolate
