#include "isolate/files/file_tree_codec.h"

#include <set>

namespace gw::isolate {
namespace {

Error damaged(std::string_view what) { return fail(Kind::corrupt, "the files of the image are damaged: {}; use another copy", what); }

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= FileTree::kMaxNameBytes && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

void write_content(ByteWriter& writer, const FileContent& file) { writer.u64(file.size()); }

void write_content(ByteWriter& writer, const InputFile& file) {
  writer.u64(file.size);
  for (const Hash256& chunk : file.chunks) writer.bytes(chunk.bytes);
}

void write_content(ByteWriter& writer, const Directory& directory) {
  writer.u64(directory.parent);
  writer.u64(directory.next_cookie);
  writer.u32(static_cast<std::uint32_t>(directory.entries.size()));
  for (const auto& [cookie, entry] : directory.entries) {
    writer.u64(cookie);
    writer.u64(entry.node);
    writer.string(entry.name);
  }
}

void write_content(ByteWriter& writer, const Symlink& link) { writer.string(link.target); }

Result<InputFile> read_input(ByteReader& reader) {
  InputFile file;
  GW_TRY(file.size, reader.u64());
  std::uint64_t chunks = file.size / kChunkBytes + (file.size % kChunkBytes != 0 ? 1 : 0);
  if (chunks > FileTree::kMaxChunks) return damaged("an input file is too large");
  for (std::uint64_t i = 0; i < chunks; i++) {
    GW_TRY(ByteView bytes, reader.bytes(32));
    std::copy(bytes.begin(), bytes.end(), file.chunks.emplace_back().bytes.begin());
  }
  return file;
}

}  // namespace

void FileTreeCodec::encode(const FileTree& tree, ByteWriter& writer) {
  writer.u64(tree.clock_);
  writer.u64(tree.next_inode_);
  writer.u32(static_cast<std::uint32_t>(tree.nodes_.size()));
  for (const auto& [inode, node] : tree.nodes_) {
    writer.u64(inode);
    writer.u8(static_cast<std::uint8_t>(node.type()));
    writer.u8(static_cast<std::uint8_t>(node.access));
    writer.u64(node.times.accessed);
    writer.u64(node.times.modified);
    writer.u64(node.times.changed);
    std::visit([&](const auto& content) { write_content(writer, content); }, node.content);
  }
}

Result<FileTree> FileTreeCodec::decode(ByteReader& reader) {
  FileTree tree;
  tree.nodes_.clear();
  GW_TRY(tree.clock_, reader.u64());
  GW_TRY(tree.next_inode_, reader.u64());
  GW_TRY_VOID(read_nodes(reader, tree));
  GW_TRY_VOID(count_names(tree));
  GW_TRY_VOID(check_directories(tree));
  return tree;
}

Status FileTreeCodec::read_nodes(ByteReader& reader, FileTree& tree) {
  GW_TRY(std::uint32_t count, reader.u32());
  if (count > FileTree::kMaxNodes) return damaged("there are too many");
  std::size_t chunks = 0;
  for (std::uint32_t i = 0; i < count; i++) {
    GW_TRY(Inode inode, reader.u64());
    GW_TRY(std::uint8_t type, reader.u8());
    GW_TRY(std::uint8_t access, reader.u8());
    bool ascends = tree.nodes_.empty() ? inode == FileTree::kRoot : inode > tree.nodes_.rbegin()->first;
    if (!ascends || inode >= tree.next_inode_ || type > 2 || access > 1) return damaged("one is of no kind that is known");
    Node node{.access = static_cast<Node::Access>(access)};
    GW_TRY(node.times.accessed, reader.u64());
    GW_TRY(node.times.modified, reader.u64());
    GW_TRY(node.times.changed, reader.u64());
    GW_TRY_VOID(read_content(reader, static_cast<NodeType>(type), node, tree));
    if (const auto* input = std::get_if<InputFile>(&node.content)) chunks += input->chunks.size();
    if (chunks > FileTree::kMaxChunks) return damaged("the input files are too large");
    tree.nodes_.emplace_hint(tree.nodes_.end(), inode, std::move(node));
  }
  const Node* root = tree.find(FileTree::kRoot);
  return root != nullptr && root->type() == NodeType::directory ? ok() : damaged("there is no root");
}

Status FileTreeCodec::read_content(ByteReader& reader, NodeType type, Node& node, FileTree& tree) {
  if (type == NodeType::directory) return read_entries(reader, node.content.emplace<Directory>(), tree);
  if (type == NodeType::symlink) {
    GW_TRY(std::string target, reader.string());
    tree.target_bytes_ += target.size();
    if (target.empty() || target.size() >= FileTree::kMaxPathBytes || target.find('\0') != std::string::npos)
      return damaged("a link leads nowhere");
    if (tree.target_bytes_ > FileTree::kMaxTargetBytes) return damaged("the links are too long");
    node.content = Symlink{std::move(target)};
    return ok();
  }
  if (node.read_only()) {
    GW_TRY(node.content, read_input(reader));
    return ok();
  }
  GW_TRY(std::uint64_t size, reader.u64());
  std::uint64_t pages = FileContent::pages_for(size);
  if (pages > wire::kMaxFilePages - tree.pages_) return damaged("they are too large");
  tree.pages_ += pages;
  node.content.emplace<FileContent>().resize(size);
  return ok();
}

Status FileTreeCodec::read_entries(ByteReader& reader, Directory& directory, FileTree& tree) {
  GW_TRY(directory.parent, reader.u64());
  GW_TRY(directory.next_cookie, reader.u64());
  GW_TRY(std::uint32_t count, reader.u32());
  tree.names_ += count;
  if (count > FileTree::kMaxNames || tree.names_ > FileTree::kMaxNames) return damaged("there are too many names");
  if (directory.next_cookie < Directory::kFirstCookie) return damaged("a directory counts wrongly");
  std::uint64_t above = Directory::kFirstCookie;
  for (std::uint32_t i = 0; i < count; i++) {
    GW_TRY(std::uint64_t cookie, reader.u64());
    GW_TRY(Inode inode, reader.u64());
    GW_TRY(std::string name, reader.string());
    if (cookie < above || cookie >= directory.next_cookie) return damaged("a directory is out of order");
    if (!is_name(name) || !directory.cookies.emplace(name, cookie).second) return damaged("a name is wrong or there twice");
    directory.entries.emplace_hint(directory.entries.end(), cookie, Directory::Entry{std::move(name), inode});
    above = cookie + 1;
  }
  return ok();
}

Status FileTreeCodec::count_names(FileTree& tree) {
  tree.at(FileTree::kRoot).names = 1;
  for (auto& [inode, node] : tree.nodes_) {
    const auto* directory = std::get_if<Directory>(&node.content);
    if (directory == nullptr) continue;
    for (const auto& [cookie, entry] : directory->entries) {
      auto child = tree.nodes_.find(entry.node);
      if (child == tree.nodes_.end()) return damaged("a name leads nowhere");
      child->second.names++;
      const auto* below = std::get_if<Directory>(&child->second.content);
      if (below != nullptr && (child->second.names > 1 || below->parent != inode)) return damaged("a directory is in two places");
    }
  }
  return ok();
}

// All nodes with a name must be connected below the root; the others must be empty and without a parent.
Status FileTreeCodec::check_directories(const FileTree& tree) {
  std::vector<Inode> todo = {FileTree::kRoot};
  std::set<Inode> reached = {FileTree::kRoot};
  while (!todo.empty()) {
    const Directory& directory = *tree.directory(todo.back());
    todo.pop_back();
    for (const auto& [cookie, entry] : directory.entries) {
      if (tree.directory(entry.node) != nullptr && reached.insert(entry.node).second) todo.push_back(entry.node);
    }
  }
  for (const auto& [inode, node] : tree.nodes_) {
    const auto* directory = std::get_if<Directory>(&node.content);
    if (directory == nullptr || (reached.contains(inode) && inode != FileTree::kRoot)) continue;
    bool sound = inode == FileTree::kRoot ? directory->parent == FileTree::kRoot
                                          : node.names == 0 && directory->parent == 0 && directory->entries.empty();
    if (!sound) return damaged("a directory is not where it should be");
  }
  return ok();
}

Status FileTreeCodec::check_reachable(const FileTree& tree) {
  for (const auto& [inode, node] : tree.nodes_) {
    if (node.names == 0 && node.opens == 0) return damaged("a node has no name and is not open");
  }
  return ok();
}

}  // namespace gw::isolate
