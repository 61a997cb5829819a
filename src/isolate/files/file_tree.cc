#include "isolate/files/file_tree.h"

#include "base/check.h"

namespace gw::isolate {
namespace {

std::size_t target_bytes(const Node& node) {
  const auto* link = std::get_if<Symlink>(&node.content);
  return link == nullptr ? 0 : link->target.size();
}

std::uint64_t content_pages(const Node& node) {
  const auto* content = std::get_if<FileContent>(&node.content);
  return content == nullptr ? 0 : content->slots().size();
}

}  // namespace

NodeType Node::type() const {
  if (std::holds_alternative<Directory>(content)) return NodeType::directory;
  return std::holds_alternative<Symlink>(content) ? NodeType::symlink : NodeType::file;
}

std::uint64_t Node::size() const {
  if (const auto* file = std::get_if<FileContent>(&content)) return file->size();
  if (const auto* input = std::get_if<InputFile>(&content)) return input->size;
  if (const auto* link = std::get_if<Symlink>(&content)) return link->target.size();
  return 0;
}

FileTree::FileTree() { nodes_.emplace(kRoot, Node{.content = Directory{.parent = kRoot}, .names = 1}); }

const Node* FileTree::find(Inode inode) const {
  auto found = nodes_.find(inode);
  return found == nodes_.end() ? nullptr : &found->second;
}

const Node& FileTree::node(Inode inode) const {
  const Node* found = find(inode);
  GW_ASSERT(found != nullptr);
  return *found;
}

Node& FileTree::at(Inode inode) {
  auto found = nodes_.find(inode);
  GW_ASSERT(found != nodes_.end());
  if (followed_) followed_->touched.insert(inode);
  return found->second;
}

const Directory* FileTree::directory(Inode inode) const { return std::get_if<Directory>(&node(inode).content); }

Directory& FileTree::directory_at(Inode inode) {
  auto* directory = std::get_if<Directory>(&at(inode).content);
  GW_ASSERT(directory != nullptr);
  return *directory;
}

Inode FileTree::lookup(Inode directory_inode, std::string_view name) const {
  const Directory* found = directory(directory_inode);
  GW_ASSERT(found != nullptr);
  auto cookie = found->cookies.find(name);
  return cookie == found->cookies.end() ? 0 : found->entries.at(cookie->second).node;
}

void FileTree::touch_content(Inode inode) {
  Node& node = at(inode);
  node.times.modified = node.times.changed = tick();
}

void FileTree::add_name(Inode directory_inode, std::string_view name, Inode inode) {
  Directory& directory = directory_at(directory_inode);
  std::uint64_t cookie = directory.next_cookie++;
  directory.entries.emplace(cookie, Directory::Entry{std::string(name), inode});
  directory.cookies.emplace(name, cookie);
  names_++;
  Node& node = at(inode);
  node.names++;
  if (auto* child = std::get_if<Directory>(&node.content)) child->parent = directory_inode;
}

void FileTree::drop_name(Inode directory_inode, std::string_view name) {
  Directory& directory = directory_at(directory_inode);
  auto cookie = directory.cookies.find(name);
  GW_ASSERT(cookie != directory.cookies.end());
  auto entry = directory.entries.find(cookie->second);
  Inode inode = entry->second.node;
  directory.entries.erase(entry);
  directory.cookies.erase(cookie);
  names_--;
  Node& node = at(inode);
  node.names--;
  if (auto* child = std::get_if<Directory>(&node.content)) child->parent = 0;
}

void FileTree::drop_if_unused(Inode inode) {
  const Node& node = at(inode);
  if (node.names > 0 || node.opens > 0) return;
  pages_ -= content_pages(node);
  target_bytes_ -= target_bytes(node);
  nodes_.erase(inode);
  if (followed_) followed_->writable.erase(inode);
}

OrErrno<Inode> FileTree::make(Inode directory, std::string_view name, decltype(Node::content) content) {
  Node node{.content = std::move(content)};
  if (at(directory).read_only()) return refuse(Errno::rofs);
  if (nodes_.size() >= kMaxNodes || names_ >= kMaxNames || target_bytes_ + target_bytes(node) > kMaxTargetBytes)
    return refuse(Errno::nospc);
  target_bytes_ += target_bytes(node);
  std::uint64_t now = tick();
  node.times = {now, now, now};
  Inode inode = next_inode_++;
  nodes_.emplace(inode, std::move(node));
  if (followed_) followed_->writable.insert(inode);
  add_name(directory, name, inode);
  at(directory).times.modified = at(directory).times.changed = now;
  return inode;
}

// Refused as between file systems: the inputs are not part of the writable one.
Errno FileTree::link(Inode inode, Inode directory, std::string_view name) {
  if (at(inode).type() == NodeType::directory) return Errno::perm;
  if (at(inode).read_only()) return Errno::xdev;
  if (at(directory).read_only()) return Errno::rofs;
  if (names_ >= kMaxNames) return Errno::nospc;
  add_name(directory, name, inode);
  touch_content(directory);
  at(inode).times.changed = clock_;
  return Errno::success;
}

Errno FileTree::unlink(Inode directory, std::string_view name) {
  Inode inode = lookup(directory, name);
  if (inode == 0) return Errno::noent;
  if (at(inode).type() == NodeType::directory) return Errno::isdir;
  if (at(inode).read_only() || at(directory).read_only()) return Errno::rofs;
  drop_name(directory, name);
  touch_content(directory);
  at(inode).times.changed = clock_;
  drop_if_unused(inode);
  return Errno::success;
}

Errno FileTree::remove_directory(Inode directory_inode, std::string_view name) {
  Inode inode = lookup(directory_inode, name);
  if (inode == 0) return Errno::noent;
  if (at(inode).type() != NodeType::directory) return Errno::notdir;
  if (at(inode).read_only() || at(directory_inode).read_only()) return Errno::rofs;
  if (!directory_at(inode).entries.empty()) return Errno::notempty;
  drop_name(directory_inode, name);
  touch_content(directory_inode);
  drop_if_unused(inode);
  return Errno::success;
}

bool FileTree::is_inside(Inode inode, Inode ancestor) const {
  for (; inode != kRoot; inode = directory(inode)->parent) {
    if (inode == ancestor) return true;
  }
  return ancestor == kRoot;
}

Errno FileTree::can_replace(const Node& old_node, Inode replaced) const {
  const Node& target = node(replaced);
  bool moves_directory = old_node.type() == NodeType::directory;
  if (target.type() != NodeType::directory) return moves_directory ? Errno::notdir : target.read_only() ? Errno::rofs : Errno::success;
  if (!moves_directory) return Errno::isdir;
  if (target.read_only()) return Errno::rofs;
  return directory(replaced)->entries.empty() ? Errno::success : Errno::notempty;
}

Errno FileTree::rename(Inode from, std::string_view old_name, Inode to, std::string_view new_name) {
  Inode moved = lookup(from, old_name), replaced = lookup(to, new_name);
  if (moved == 0) return Errno::noent;
  const Node& node = at(moved);
  if (node.read_only() || at(from).read_only() || at(to).read_only()) return Errno::rofs;
  if (node.type() == NodeType::directory && is_inside(to, moved)) return Errno::inval;
  if (moved == replaced) return Errno::success;
  if (replaced != 0) {
    if (Errno error = can_replace(node, replaced); error != Errno::success) return error;
  }
  drop_name(from, old_name);
  if (replaced == 0) {
    add_name(to, new_name, moved);
  } else {
    Directory& directory = directory_at(to);
    directory.entries.at(directory.cookies.find(new_name)->second).node =
        moved;  // keep the cookie: a reader of the directory sees the name once
    at(moved).names++;
    at(replaced).names--;
    if (auto* child = std::get_if<Directory>(&at(moved).content)) child->parent = to;
    if (auto* child = std::get_if<Directory>(&at(replaced).content)) child->parent = 0;
  }
  touch_content(from);
  touch_content(to);
  at(moved).times.changed = clock_;
  if (replaced != 0) drop_if_unused(replaced);
  return Errno::success;
}

Errno FileTree::resize(Inode inode, std::uint64_t size) {
  Node& node = at(inode);
  if (node.read_only()) return Errno::rofs;
  auto& content = std::get<FileContent>(node.content);
  std::uint64_t old_pages = content.slots().size(), new_pages = FileContent::pages_for(size);
  if (new_pages > old_pages && (pages_ > max_pages_ || new_pages - old_pages > max_pages_ - pages_)) return Errno::nospc;
  content.resize(size);
  pages_ = pages_ - old_pages + new_pages;
  touch_content(inode);
  return Errno::success;
}

Errno FileTree::write(Inode inode, std::uint64_t offset, ByteView bytes) {
  if (at(inode).read_only()) return Errno::rofs;
  auto& content = std::get<FileContent>(at(inode).content);
  if (offset > INT64_MAX - bytes.size()) return Errno::fbig;
  if (offset + bytes.size() > content.size()) {
    if (Errno error = resize(inode, offset + bytes.size()); error != Errno::success) return error;
  }
  content.write(offset, bytes);
  touch_content(inode);
  return Errno::success;
}

Errno FileTree::set_times(Inode inode, std::optional<std::uint64_t> accessed, std::optional<std::uint64_t> modified) {
  Node& node = at(inode);
  if (node.read_only()) return Errno::rofs;
  if (accessed) node.times.accessed = *accessed;
  if (modified) node.times.modified = *modified;
  node.times.changed = tick();
  return Errno::success;
}

void FileTree::follow_changes() {
  followed_.emplace();
  for (const auto& [inode, node] : nodes_)
    if (!node.read_only()) followed_->writable.insert(inode);
}

void FileTree::put_back(const FileTree& before) {
  GW_ASSERT(followed_.has_value());
  for (const Inode inode : followed_->touched) {
    if (const Node* node = before.find(inode)) {
      nodes_.insert_or_assign(inode, *node);
      if (!node->read_only()) followed_->writable.insert(inode);
    } else {
      nodes_.erase(inode);
      followed_->writable.erase(inode);
    }
  }
  followed_->touched.clear();
  next_inode_ = before.next_inode_;
  clock_ = before.clock_;
  names_ = before.names_;
  target_bytes_ = before.target_bytes_;
  pages_ = before.pages_;
}

void FileTree::on_wall_clock(std::uint64_t nanoseconds) {
  if (!knows_time() && nanoseconds >= kFirstWallTime) {
    const auto move_on = [step = nanoseconds - clock_](Node& node) {
      for (std::uint64_t* time : {&node.times.accessed, &node.times.modified, &node.times.changed}) *time += step;
    };
    // Inputs have times of their own.
    if (followed_) {
      for (const Inode inode : followed_->writable) move_on(at(inode));
    } else {
      for (auto& [inode, node] : nodes_)
        if (!node.read_only()) move_on(node);
    }
  }
  clock_ = std::max(clock_, nanoseconds);
}

void FileTree::open(Inode inode) { at(inode).opens++; }

void FileTree::close(Inode inode) {
  at(inode).opens--;
  drop_if_unused(inode);
}

}  // namespace gw::isolate
