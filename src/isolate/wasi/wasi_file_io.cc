// Reading, writing and seeking in files.

#include <algorithm>

#include "isolate/wasi/wasi.h"

namespace gw::isolate {

struct Wasi::Transfer {
  GuestMemory memory;
  Descriptor& descriptor;
  const GuestBuffers& buffers;
  std::uint32_t done;                   // where the guest wants the number of bytes
  std::optional<std::uint64_t> offset;  // none: at the descriptor's own, which goes on
};

CallResult Wasi::fd_read(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint32_t done) {
  auto found = descriptor(fd, right::kRead);
  if (!found) return found.error();
  GuestBuffers buffers;
  if (Errno error = buffers.load(memory, vectors, count); error != Errno::success) return error;
  if ((*found)->kind == Descriptor::Kind::input) return read_input(memory, buffers, done);
  return read_file({memory, **found, buffers, done, std::nullopt});
}

CallResult Wasi::fd_pread(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint64_t offset,
                          std::uint32_t done) {
  auto found = node_descriptor(fd, right::kRead, Errno::spipe);
  if (!found) return found.error();
  if (offset > INT64_MAX) return Errno::inval;
  GuestBuffers buffers;
  if (Errno error = buffers.load(memory, vectors, count); error != Errno::success) return error;
  return read_file({memory, **found, buffers, done, offset});
}

CallResult Wasi::read_file(Transfer transfer) {
  const Node& node = state_.files.node(transfer.descriptor.node);
  if (node.type() == NodeType::directory) return Errno::isdir;
  if (!transfer.memory.span(transfer.done, 4)) return Errno::fault;
  std::uint64_t offset = transfer.offset.value_or(transfer.descriptor.offset), size = node.size();
  std::uint64_t moved = offset < size ? std::min(transfer.buffers.bytes, size - offset) : 0;
  if (const auto* input = std::get_if<InputFile>(&node.content)) {
    auto copied = copy_input(*input, transfer, moved);
    if (!copied) return host_failure(copied.error());
    if (!*copied) return park(ParkedCall::chunk);
  } else {
    transfer.buffers.each_part(0, moved, [&](std::uint64_t at, std::span<std::uint8_t> part) {
      std::get<FileContent>(node.content).read(offset + at, part);
      return true;
    });
  }
  unpark();
  if (!transfer.offset) transfer.descriptor.offset += moved;
  GW_ASSERT(transfer.memory.store(transfer.done, static_cast<std::uint32_t>(moved)));
  return Errno::success;
}

// None: a chunk is not here yet. What has come is in the guest's memory then and is not fetched again: a read may be larger than all chunks
// that are kept.
Result<std::optional<std::uint64_t>> Wasi::copy_input(const InputFile& file, const Transfer& transfer, std::uint64_t wanted) {
  std::uint64_t offset = transfer.offset.value_or(transfer.descriptor.offset);
  if (state_.progress > wanted) return fail(Kind::corrupt, "the image says that more of a file was read than was asked for");
  while (state_.progress < wanted) {
    std::uint64_t at = offset + state_.progress, start = at / kChunkBytes * kChunkBytes;
    const Hash256& hash = file.chunks[start / kChunkBytes];
    const bool known = chunks_.contains(hash);
    const bool goes_on = start == 0 || chunks_.contains(file.chunks[start / kChunkBytes - 1]);
    GW_TRY(auto chunk, chunks_.chunk(hash, std::min(kChunkBytes, file.size - start)));
    if (!known && goes_on) read_ahead(file, start / kChunkBytes);
    if (!chunk) {
      awaited_ = hash;
      return std::optional<std::uint64_t>();
    }
    std::uint64_t last = std::min(wanted, state_.progress + (*chunk)->size() - (at - start));
    transfer.buffers.each_part(state_.progress, last, [&](std::uint64_t position, std::span<std::uint8_t> part) {
      std::memcpy(part.data(), (*chunk)->data() + (offset + position - start), part.size());
      return true;
    });
    state_.progress = last;
  }
  return std::optional(wanted);
}

// A file that is read from its beginning, or goes on where it was read last, will probably be read to its end. Nothing that the guest sees
// depends on this.
void Wasi::read_ahead(const InputFile& file, std::size_t chunk) {
  constexpr std::size_t kAhead = 4;
  const std::span<const Hash256> rest = std::span(file.chunks).subspan(chunk + 1);
  chunks_.read_ahead(rest.first(std::min(rest.size(), kAhead)));
}

CallResult Wasi::fd_write(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint32_t done) {
  auto found = descriptor(fd, right::kWrite);
  if (!found) return found.error();
  GuestBuffers buffers;
  if (Errno error = buffers.load(memory, vectors, count); error != Errno::success) return error;
  if ((*found)->kind != Descriptor::Kind::node) return write_output(memory, (*found)->kind, buffers, done);
  return write_file({memory, **found, buffers, done, std::nullopt});
}

CallResult Wasi::fd_pwrite(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint64_t offset,
                           std::uint32_t done) {
  auto found = node_descriptor(fd, right::kWrite, Errno::spipe);
  if (!found) return found.error();
  if (offset > INT64_MAX) return Errno::inval;
  GuestBuffers buffers;
  if (Errno error = buffers.load(memory, vectors, count); error != Errno::success) return error;
  return write_file({memory, **found, buffers, done, offset});
}

// Writes all of it, or nothing where the tree is full. A file opened to be appended to is written at its end whatever the offset says, by
// fd_pwrite too, as Linux does.
CallResult Wasi::write_file(Transfer transfer) {
  Descriptor& descriptor = transfer.descriptor;
  const Node& node = state_.files.node(descriptor.node);
  if (node.type() == NodeType::directory) return Errno::badf;
  if (node.read_only()) return Errno::rofs;
  if (!transfer.memory.span(transfer.done, 4)) return Errno::fault;
  bool appends = (descriptor.flags & fd_flag::kAppend) != 0;
  std::uint64_t offset = appends ? node.size() : transfer.offset.value_or(descriptor.offset), bytes = transfer.buffers.bytes;
  if (offset > INT64_MAX - bytes) return Errno::fbig;
  if (bytes > 0 && offset + bytes > node.size()) {
    if (Errno error = state_.files.resize(descriptor.node, offset + bytes); error != Errno::success) return error;
  }
  transfer.buffers.each_part(0, bytes, [&](std::uint64_t at, std::span<std::uint8_t> part) {
    GW_ASSERT(state_.files.write(descriptor.node, offset + at, part) == Errno::success);
    return true;
  });
  if (!transfer.offset) descriptor.offset = offset + bytes;
  GW_ASSERT(transfer.memory.store(transfer.done, static_cast<std::uint32_t>(bytes)));
  return Errno::success;
}

CallResult Wasi::fd_seek(GuestMemory memory, std::uint32_t fd, std::uint64_t distance, std::uint32_t whence, std::uint32_t out) {
  auto found = file_descriptor(fd, right::kSeek, Errno::spipe);
  if (!found) return found.error();
  Descriptor& descriptor = **found;
  if (whence > 2) return Errno::inval;
  std::uint64_t bases[] = {0, descriptor.offset, state_.files.node(descriptor.node).size()};
  auto step = static_cast<std::int64_t>(distance);
  std::int64_t target;
  if (__builtin_add_overflow(static_cast<std::int64_t>(bases[whence]), step, &target)) return Errno::overflow;
  if (target < 0) return Errno::inval;
  if (!memory.store(out, target)) return Errno::fault;
  descriptor.offset = static_cast<std::uint64_t>(target);
  return Errno::success;
}

CallResult Wasi::fd_tell(GuestMemory memory, std::uint32_t fd, std::uint32_t out) {
  auto found = file_descriptor(fd, right::kTell, Errno::spipe);
  if (!found) return found.error();
  return memory.store(out, (*found)->offset) ? Errno::success : Errno::fault;
}

// Advice about what is in memory anyway.
CallResult Wasi::fd_advise(GuestMemory, std::uint32_t fd, std::uint64_t offset, std::uint64_t length, std::uint32_t advice) {
  auto found = file_descriptor(fd, right::kAdvise, Errno::spipe);
  if (!found) return found.error();
  bool sane = advice <= 5 && offset <= INT64_MAX && length <= INT64_MAX - offset;
  return sane ? Errno::success : Errno::inval;
}

CallResult Wasi::fd_allocate(GuestMemory, std::uint32_t fd, std::uint64_t offset, std::uint64_t length) {
  auto found = file_descriptor(fd, right::kAllocate, Errno::spipe);
  if (!found) return found.error();
  if (length == 0 || offset > INT64_MAX || length > INT64_MAX) return Errno::inval;
  if (length > INT64_MAX - offset) return Errno::fbig;
  const Node& node = state_.files.node((*found)->node);
  if (node.read_only()) return Errno::rofs;
  return offset + length <= node.size() ? Errno::success : state_.files.resize((*found)->node, offset + length);
}

CallResult Wasi::fd_filestat_set_size(GuestMemory, std::uint32_t fd, std::uint64_t size) {
  auto found = file_descriptor(fd, right::kSetSize, Errno::inval);
  if (!found) return found.error();
  return size > INT64_MAX ? Errno::inval : state_.files.resize((*found)->node, size);
}

// Nothing to do: written bytes are in the tree already, and the tree is as durable as the isolate.
CallResult Wasi::fd_sync(GuestMemory, std::uint32_t fd) {
  auto found = node_descriptor(fd, right::kSync, Errno::inval);
  return found ? Errno::success : found.error();
}

CallResult Wasi::fd_datasync(GuestMemory, std::uint32_t fd) {
  auto found = node_descriptor(fd, 0, Errno::inval);
  return found ? Errno::success : found.error();
}

}  // namespace gw::isolate
