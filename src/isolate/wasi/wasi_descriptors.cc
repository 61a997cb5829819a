// The calls about descriptors themselves: flags, rights, seeking, closing.

#include <algorithm>

#include "isolate/wasi/wasi.h"
#include "isolate/wasi/wasi_stat.h"

namespace gw::isolate {
namespace {

constexpr std::string_view kPreopenName = "/";
constexpr std::uint32_t kDirentBytes = 24;

// A right that POSIX knows as the mode of open(2) is missing with the errno of POSIX.
Errno denied(std::uint64_t missing) {
  if ((missing & (right::kRead | right::kWrite | right::kReaddir | right::kAllocate)) != 0) return Errno::badf;
  return (missing & right::kSetSize) != 0 ? Errno::inval : Errno::notcapable;
}

// Fills a guest's buffer with directory entries, the last one cut off where the buffer ends.
class DirentWriter {
 public:
  explicit DirentWriter(std::span<std::uint8_t> buffer) : buffer_(buffer) {}

  void add(std::uint64_t next, Inode inode, std::string_view name, FileType type) {
    std::array<std::uint8_t, kDirentBytes> head{};
    auto length = static_cast<std::uint32_t>(name.size());
    std::memcpy(head.data(), &next, 8);
    std::memcpy(head.data() + 8, &inode, 8);
    std::memcpy(head.data() + 16, &length, 4);
    head[20] = static_cast<std::uint8_t>(type);
    append(head);
    append(as_bytes(name));
  }
  bool full() const { return used_ == buffer_.size(); }
  std::uint32_t used() const { return static_cast<std::uint32_t>(used_); }

 private:
  void append(ByteView bytes) {
    std::size_t part = std::min(bytes.size(), buffer_.size() - used_);
    std::copy_n(bytes.begin(), part, buffer_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ += part;
  }

  std::span<std::uint8_t> buffer_;
  std::size_t used_ = 0;
};

}  // namespace

OrErrno<Descriptor*> Wasi::descriptor(std::uint32_t fd, std::uint64_t rights) {
  Descriptor* found = state_.descriptors.find(fd);
  if (found == nullptr) return refuse(Errno::badf);
  if (!found->allows(rights)) return refuse(denied(rights & ~found->rights));
  return found;
}

OrErrno<Descriptor*> Wasi::node_descriptor(std::uint32_t fd, std::uint64_t rights, Errno on_stream) {
  Descriptor* found = state_.descriptors.find(fd);
  if (found == nullptr) return refuse(Errno::badf);
  if (found->kind != Descriptor::Kind::node) return refuse(on_stream);
  return descriptor(fd, rights);
}

OrErrno<Descriptor*> Wasi::file_descriptor(std::uint32_t fd, std::uint64_t rights, Errno on_stream) {
  const Descriptor* found = state_.descriptors.find(fd);
  const bool is_node = found != nullptr && found->kind == Descriptor::Kind::node;
  if (is_node && state_.files.directory(found->node) != nullptr) return refuse(Errno::badf);
  return node_descriptor(fd, rights, on_stream);
}

CallResult Wasi::fd_close(GuestMemory, std::uint32_t fd) {
  const Descriptor* found = state_.descriptors.find(fd);
  if (found == nullptr) return Errno::badf;
  if (found->kind == Descriptor::Kind::node) state_.files.close(found->node);
  state_.descriptors.remove(fd);
  return Errno::success;
}

CallResult Wasi::fd_renumber(GuestMemory memory, std::uint32_t from, std::uint32_t to) {
  if (!is_open(from) || !is_open(to)) return Errno::badf;
  if (from == to) return Errno::success;
  CallResult closed = fd_close(memory, to);
  state_.descriptors.put(to, *state_.descriptors.find(from));
  state_.descriptors.remove(from);
  return closed;
}

// A stream is always a character device, whatever the host's descriptor is: how the guest buffers must not depend on where it runs.
CallResult Wasi::fd_fdstat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t out) {
  const Descriptor* found = state_.descriptors.find(fd);
  if (found == nullptr) return Errno::badf;
  auto stat = memory.span(out, 24);
  if (!stat) return Errno::fault;
  std::fill(stat->begin(), stat->end(), std::uint8_t{0});
  FileType type = found->kind == Descriptor::Kind::node ? file_type(state_.files.node(found->node)) : FileType::character_device;
  bool stored = memory.store(out, type) && memory.store(out + 2, found->flags) && memory.store(out + 8, found->rights) &&
                memory.store(out + 16, found->inheriting);
  return stored ? Errno::success : Errno::fault;
}

// Refuses NONBLOCK on standard input: the result of a read would depend on time. Guests use poll_oneoff instead.
CallResult Wasi::fd_fdstat_set_flags(GuestMemory, std::uint32_t fd, std::uint32_t flags) {
  Descriptor* found = state_.descriptors.find(fd);
  if (found == nullptr) return Errno::badf;
  if (flags > fd_flag::kAll) return Errno::inval;
  if (found->kind != Descriptor::Kind::node) return flags == 0 ? Errno::success : Errno::notsup;
  found->flags = static_cast<std::uint16_t>(flags);
  return Errno::success;
}

CallResult Wasi::fd_fdstat_set_rights(GuestMemory, std::uint32_t fd, std::uint64_t rights, std::uint64_t inheriting) {
  Descriptor* found = state_.descriptors.find(fd);
  if (found == nullptr) return Errno::badf;
  if ((rights & ~found->rights) != 0 || (inheriting & ~found->inheriting) != 0) return Errno::notcapable;
  found->rights = rights;
  found->inheriting = inheriting;
  return Errno::success;
}

CallResult Wasi::fd_filestat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t out) {
  auto found = descriptor(fd, right::kFilestatGet);
  if (!found) return found.error();
  if ((*found)->kind != Descriptor::Kind::node) return store_stream_stat(memory, out);
  if (Status known = learn_time(); !known) return host_failure(known.error());
  return store_stat(memory, out, (*found)->node, state_.files.node((*found)->node));
}

CallResult Wasi::fd_filestat_set_times(GuestMemory, std::uint32_t fd, std::uint64_t accessed, std::uint64_t modified, std::uint32_t flags) {
  auto found = node_descriptor(fd, right::kSetTimes, Errno::inval);
  if (!found) return found.error();
  return set_times((*found)->node, accessed, modified, flags);
}

CallResult Wasi::fd_prestat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t out) {
  const Descriptor* found = state_.descriptors.find(fd);
  if (found == nullptr || !found->preopened) return Errno::badf;
  bool stored = memory.store(out, std::uint32_t{0}) && memory.store(out + 4, static_cast<std::uint32_t>(kPreopenName.size()));
  return stored ? Errno::success : Errno::fault;
}

CallResult Wasi::fd_prestat_dir_name(GuestMemory memory, std::uint32_t fd, std::uint32_t path, std::uint32_t length) {
  const Descriptor* found = state_.descriptors.find(fd);
  if (found == nullptr || !found->preopened) return Errno::badf;
  if (length < kPreopenName.size()) return Errno::nametoolong;
  auto room = memory.span(path, static_cast<std::uint32_t>(kPreopenName.size()));
  if (!room) return Errno::fault;
  std::memcpy(room->data(), kPreopenName.data(), room->size());
  return Errno::success;
}

CallResult Wasi::fd_readdir(GuestMemory memory, std::uint32_t fd, std::uint32_t buffer, std::uint32_t length, std::uint64_t cookie,
                            std::uint32_t used) {
  auto found = node_descriptor(fd, right::kReaddir, Errno::notdir);
  if (!found) return found.error();
  Inode inode = (*found)->node;
  const Directory* directory = state_.files.directory(inode);
  if (directory == nullptr) return Errno::notdir;
  auto room = memory.span(buffer, length);
  if (!room || !memory.span(used, 4)) return Errno::fault;
  DirentWriter writer(*room);
  if (directory->parent != 0) {
    if (cookie < Directory::kSelfCookie) writer.add(Directory::kSelfCookie, inode, ".", FileType::directory);
    if (cookie < Directory::kParentCookie && !writer.full())
      writer.add(Directory::kParentCookie, directory->parent, "..", FileType::directory);
  }
  for (auto entry = directory->entries.upper_bound(cookie); entry != directory->entries.end() && !writer.full(); ++entry) {
    const auto& [name, node] = entry->second;
    writer.add(entry->first, node, name, file_type(state_.files.node(node)));
  }
  return memory.store(used, writer.used()) ? Errno::success : Errno::fault;
}

}  // namespace gw::isolate
