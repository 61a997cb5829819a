// The calls that name a node by a path.

#include <algorithm>

#include "isolate/wasi/wasi.h"
#include "isolate/wasi/wasi_stat.h"

namespace gw::isolate {
namespace {

constexpr std::uint32_t kSymlinkFollow = 1;
constexpr std::uint32_t kCreate = 1, kDirectory = 2, kExclusive = 4, kTruncate = 8;
constexpr std::uint32_t kAccessed = 1, kAccessedNow = 2, kModified = 4, kModifiedNow = 8;

LastLink last_link(std::uint32_t lookup) { return (lookup & kSymlinkFollow) != 0 ? LastLink::follow : LastLink::keep; }

OrErrno<std::string_view> text_at(GuestMemory memory, std::uint32_t address, std::uint32_t length) {
  auto bytes = memory.span(address, length);
  if (!bytes) return refuse(Errno::fault);
  return as_text(*bytes);
}

// A name to remove has a last component: neither "." nor "..", nor the root.
Errno check_removable(const ResolvedPath& path) {
  if (path.node == 0) return Errno::noent;
  return path.name.empty() ? Errno::busy : Errno::success;
}

}  // namespace

OrErrno<ResolvedPath> Wasi::resolve(GuestMemory memory, std::uint32_t fd, std::uint64_t rights, PathArgument path, LastLink last_link) {
  auto from = node_descriptor(fd, rights, Errno::notdir);
  if (!from) return refuse(from.error());
  auto text = text_at(memory, path.address, path.length);
  if (!text) return refuse(text.error());
  return walk(state_.files, (*from)->node, *text, last_link);
}

// For something new.
OrErrno<ResolvedPath> Wasi::resolve_new(GuestMemory memory, std::uint32_t fd, std::uint64_t rights, PathArgument path) {
  auto found = resolve(memory, fd, rights, path, LastLink::never);
  if (found && found->node != 0) return refuse(Errno::exist);
  return found;
}

CallResult Wasi::path_create_directory(GuestMemory memory, std::uint32_t fd, std::uint32_t path, std::uint32_t length) {
  auto where = resolve_new(memory, fd, right::kCreateDirectory, {path, length});
  if (!where) return where.error();
  auto made = state_.files.make(where->directory, where->name, Directory{});
  return made ? Errno::success : made.error();
}

CallResult Wasi::path_remove_directory(GuestMemory memory, std::uint32_t fd, std::uint32_t path, std::uint32_t length) {
  auto where = resolve(memory, fd, right::kRemoveDirectory, {path, length}, LastLink::never);
  if (!where) return where.error();
  if (Errno error = check_removable(*where); error != Errno::success) return error;
  return state_.files.remove_directory(where->directory, where->name);
}

CallResult Wasi::path_unlink_file(GuestMemory memory, std::uint32_t fd, std::uint32_t path, std::uint32_t length) {
  auto where = resolve(memory, fd, right::kUnlink, {path, length}, LastLink::never);
  if (!where) return where.error();
  if (where->name.empty()) return Errno::isdir;
  return state_.files.unlink(where->directory, where->name);
}

CallResult Wasi::path_symlink(GuestMemory memory, std::uint32_t target, std::uint32_t target_length, std::uint32_t fd, std::uint32_t path,
                              std::uint32_t length) {
  auto text = text_at(memory, target, target_length);
  if (!text) return text.error();
  if (text->empty()) return Errno::noent;
  if (text->size() >= FileTree::kMaxPathBytes) return Errno::nametoolong;
  if (text->find('\0') != std::string_view::npos) return Errno::inval;
  auto where = resolve_new(memory, fd, right::kSymlink, {path, length});
  if (!where) return where.error();
  if (where->wants_directory) return Errno::noent;
  // The path would lead out of the directory of the descriptor.
  if (text->starts_with('/') && state_.descriptors.find(fd)->node != FileTree::kRoot) return Errno::perm;
  auto made = state_.files.make(where->directory, where->name, Symlink{std::string(*text)});
  return made ? Errno::success : made.error();
}

CallResult Wasi::path_link(GuestMemory memory, std::uint32_t old_fd, std::uint32_t lookup, std::uint32_t old_path, std::uint32_t old_length,
                           std::uint32_t new_fd, std::uint32_t new_path, std::uint32_t new_length) {
  auto from = resolve(memory, old_fd, right::kLinkSource, {old_path, old_length}, last_link(lookup));
  if (!from) return from.error();
  if (from->node == 0) return Errno::noent;
  auto to = resolve_new(memory, new_fd, right::kLinkTarget, {new_path, new_length});
  if (!to) return to.error();
  if (to->wants_directory) return Errno::noent;
  return state_.files.link(from->node, to->directory, to->name);
}

CallResult Wasi::path_rename(GuestMemory memory, std::uint32_t old_fd, std::uint32_t old_path, std::uint32_t old_length,
                             std::uint32_t new_fd, std::uint32_t new_path, std::uint32_t new_length) {
  auto from = resolve(memory, old_fd, right::kRenameSource, {old_path, old_length}, LastLink::never);
  if (!from) return from.error();
  auto to = resolve(memory, new_fd, right::kRenameTarget, {new_path, new_length}, LastLink::never);
  if (!to) return to.error();
  if (from->name.empty() || to->name.empty()) return Errno::busy;
  if (from->node == 0) return Errno::noent;
  if (to->wants_directory && state_.files.directory(from->node) == nullptr) return Errno::notdir;
  return state_.files.rename(from->directory, from->name, to->directory, to->name);
}

CallResult Wasi::path_readlink(GuestMemory memory, std::uint32_t fd, std::uint32_t path, std::uint32_t length, std::uint32_t buffer,
                               std::uint32_t buffer_length, std::uint32_t used) {
  auto where = resolve(memory, fd, right::kReadlink, {path, length}, LastLink::keep);
  if (!where) return where.error();
  if (where->node == 0) return Errno::noent;
  const auto* link = std::get_if<Symlink>(&state_.files.node(where->node).content);
  if (link == nullptr) return Errno::inval;
  auto room = memory.span(buffer, buffer_length);
  if (!room) return Errno::fault;
  std::size_t part = std::min<std::size_t>(room->size(), link->target.size());
  std::memcpy(room->data(), link->target.data(), part);
  return memory.store(used, static_cast<std::uint32_t>(part)) ? Errno::success : Errno::fault;
}

CallResult Wasi::path_filestat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t lookup, std::uint32_t path, std::uint32_t length,
                                   std::uint32_t out) {
  auto where = resolve(memory, fd, right::kPathFilestatGet, {path, length}, last_link(lookup));
  if (!where) return where.error();
  if (where->node == 0) return Errno::noent;
  if (Status known = learn_time(); !known) return host_failure(known.error());
  return store_stat(memory, out, where->node, state_.files.node(where->node));
}

CallResult Wasi::path_filestat_set_times(GuestMemory memory, std::uint32_t fd, std::uint32_t lookup, std::uint32_t path,
                                         std::uint32_t length, std::uint64_t accessed, std::uint64_t modified, std::uint32_t flags) {
  auto where = resolve(memory, fd, right::kPathSetTimes, {path, length}, last_link(lookup));
  if (!where) return where.error();
  return where->node == 0 ? Errno::noent : set_times(where->node, accessed, modified, flags);
}

// The guest is about to see or set the time of a file: the clock of the tree must show the time by then.
Status Wasi::learn_time() {
  if (state_.files.knows_time()) return ok();
  GW_TRY(auto now, world_.clock.read(Clock::realtime));
  state_.files.on_wall_clock(now);
  return ok();
}

// A guest that asks for the time of now gets that of the wall clock, and it is recorded as if it had read it.
CallResult Wasi::set_times(Inode inode, std::uint64_t accessed, std::uint64_t modified, std::uint32_t flags) {
  bool both = (flags & (kAccessed | kAccessedNow)) == (kAccessed | kAccessedNow) ||
              (flags & (kModified | kModifiedNow)) == (kModified | kModifiedNow);
  if (both || flags > 15) return Errno::inval;
  if (state_.files.node(inode).read_only()) return Errno::rofs;
  if (Status known = learn_time(); !known) return host_failure(known.error());
  std::optional<std::uint64_t> new_accessed, new_modified;
  if ((flags & kAccessed) != 0) new_accessed = accessed;
  if ((flags & kModified) != 0) new_modified = modified;
  if ((flags & (kAccessedNow | kModifiedNow)) != 0) {
    auto now = world_.clock.read(Clock::realtime);
    if (!now) return host_failure(now.error());
    state_.files.on_wall_clock(*now);
    if ((flags & kAccessedNow) != 0) new_accessed = *now;
    if ((flags & kModifiedNow) != 0) new_modified = *now;
  }
  return state_.files.set_times(inode, new_accessed, new_modified);
}

CallResult Wasi::path_open(GuestMemory memory, std::uint32_t fd, std::uint32_t lookup, std::uint32_t path, std::uint32_t length,
                           std::uint32_t open_flags, std::uint64_t rights, std::uint64_t inheriting, std::uint32_t fd_flags,
                           std::uint32_t out) {
  if (open_flags > 15 || fd_flags > fd_flag::kAll) return Errno::inval;
  rights &= right::kAll;
  inheriting &= right::kAll;
  const std::uint64_t needed =
      right::kOpen | ((open_flags & kCreate) != 0 ? right::kCreateFile : 0) | ((open_flags & kTruncate) != 0 ? right::kPathSetSize : 0);
  bool exclusive = (open_flags & (kCreate | kExclusive)) == (kCreate | kExclusive);
  auto where = resolve(memory, fd, needed, {path, length}, exclusive ? LastLink::keep : last_link(lookup));
  if (!where) return where.error();
  if (((rights | inheriting) & ~state_.descriptors.find(fd)->inheriting) != 0) return Errno::notcapable;
  if (!memory.span(out, 4)) return Errno::fault;
  if (state_.descriptors.all().size() >= DescriptorTable::kMax) return Errno::mfile;
  auto inode = node_to_open(*where, open_flags, rights);
  if (!inode) return inode.error();
  state_.files.open(*inode);
  auto number = state_.descriptors.add({.flags = static_cast<std::uint16_t>(fd_flags),
                                        .rights = state_.files.directory(*inode) == nullptr ? rights : rights & right::kOfDirectories,
                                        .inheriting = inheriting,
                                        .node = *inode});
  GW_ASSERT(number && memory.store(out, *number));
  return Errno::success;
}

// Makes or empties it, as the flags say.
OrErrno<Inode> Wasi::node_to_open(const ResolvedPath& path, std::uint32_t open_flags, std::uint64_t rights) {
  bool create = (open_flags & kCreate) != 0, directory = (open_flags & kDirectory) != 0;
  if (create && directory) return refuse(Errno::inval);
  if (path.node == 0) {
    if (!create) return refuse(Errno::noent);
    if (path.wants_directory) return refuse(Errno::isdir);
    return state_.files.make(path.directory, path.name, FileContent{});
  }
  if (create && (open_flags & kExclusive) != 0) return refuse(Errno::exist);
  const Node& node = state_.files.node(path.node);
  bool writes = (rights & right::kWrite) != 0 || (open_flags & kTruncate) != 0;
  switch (node.type()) {
    case NodeType::symlink:
      return refuse(directory ? Errno::notdir : Errno::loop);
    case NodeType::directory:
      if (create || writes) return refuse(Errno::isdir);
      return path.node;
    case NodeType::file:
      break;
  }
  if (directory) return refuse(Errno::notdir);
  if (writes && node.read_only()) return refuse(Errno::rofs);
  if ((open_flags & kTruncate) != 0 && node.size() > 0) {
    if (Errno error = state_.files.resize(path.node, 0); error != Errno::success) return refuse(error);
  }
  return path.node;
}

}  // namespace gw::isolate
