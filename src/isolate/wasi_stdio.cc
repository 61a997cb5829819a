// The standard streams of a guest.

#include <algorithm>
#include <array>

#include "isolate/wasi.h"

namespace gw::isolate {
namespace {

constexpr std::uint32_t kMaxVectors = 1024;
constexpr std::size_t kReadAhead = 64u << 10;
constexpr std::uint8_t kCharacterDevice = 2;
constexpr std::uint64_t kRightRead = 1u << 1, kRightWrite = 1u << 6;

// The buffers of one read or write, all inside the guest's memory.
struct Buffers {
  std::array<std::span<std::uint8_t>, kMaxVectors> list;
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;

  // Address and length of each buffer are at `vectors`. Looks at all of them before anything is moved.
  Errno load(GuestMemory memory, std::uint32_t vectors, std::uint32_t wanted) {
    if (wanted > kMaxVectors) return Errno::inval;
    auto entries = memory.span(vectors, wanted * 8);
    if (!entries) return Errno::fault;
    for (std::uint32_t i = 0; i < wanted; i++) {
      auto buffer = memory.span(memory.get<std::uint32_t>(vectors + 8 * i), memory.get<std::uint32_t>(vectors + 8 * i + 4));
      if (!buffer) return Errno::fault;
      list[count++] = *buffer;
      bytes += buffer->size();
    }
    return Errno::success;
  }
  std::span<std::span<std::uint8_t>> all() { return {list.data(), count}; }
};

}  // namespace

CallResult Wasi::fd_close(GuestMemory, std::uint32_t fd) {
  if (!is_open(fd)) return Errno::badf;
  state_.closed |= static_cast<std::uint8_t>(1u << fd);
  return Errno::success;
}

// Always a character device, whatever the host's descriptor is: how the guest buffers must not depend on where it runs.
CallResult Wasi::fd_fdstat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t out) {
  if (!is_open(fd)) return Errno::badf;
  auto stat = memory.span(out, 24);
  if (!stat) return Errno::fault;
  std::fill(stat->begin(), stat->end(), std::uint8_t{0});
  bool stored = memory.store(out, kCharacterDevice) && memory.store(out + 8, fd == 0 ? kRightRead : kRightWrite);
  return stored ? Errno::success : Errno::fault;
}

CallResult Wasi::fd_filestat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t out) {
  if (!is_open(fd)) return Errno::badf;
  auto stat = memory.span(out, 64);
  if (!stat) return Errno::fault;
  std::fill(stat->begin(), stat->end(), std::uint8_t{0});
  return memory.store(out + 16, kCharacterDevice) ? Errno::success : Errno::fault;
}

Wasi::Input Wasi::look_for_input() {
  if (!state_.input.empty()) return Input::ready;
  if (state_.input_ended) return Input::ended;
  Bytes buffer(kReadAhead);
  auto read = streams_.input.read(buffer);
  if (!read) return Input::failed;
  switch (read->state) {
    case InputSource::State::not_yet:
      return Input::not_yet;
    case InputSource::State::end:
      state_.input_ended = true;
      return Input::ended;
    case InputSource::State::data:
      break;
  }
  GW_ASSERT(read->bytes > 0 && read->bytes <= buffer.size());
  buffer.resize(read->bytes);
  state_.input = std::move(buffer);
  return Input::ready;
}

CallResult Wasi::fd_read(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint32_t done) {
  if (fd != 0 || !is_open(fd)) return Errno::badf;
  Buffers buffers;
  if (Errno error = buffers.load(memory, vectors, count); error != Errno::success) return error;
  std::size_t moved = 0;
  if (buffers.bytes > 0) {
    switch (look_for_input()) {
      case Input::not_yet:
        return park(ParkedCall::input);
      case Input::failed:
        unpark();
        return Errno::io;
      case Input::ended:
      case Input::ready:
        break;
    }
    for (auto buffer : buffers.all()) {
      std::size_t part = std::min(buffer.size(), state_.input.size() - moved);
      if (part > 0) std::memcpy(buffer.data(), state_.input.data() + moved, part);
      moved += part;
    }
  }
  unpark();
  if (!memory.store(done, static_cast<std::uint32_t>(moved))) return Errno::fault;
  state_.input.erase(state_.input.begin(), state_.input.begin() + static_cast<std::ptrdiff_t>(moved));
  return Errno::success;
}

CallResult Wasi::fd_write(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint32_t done) {
  if ((fd != 1 && fd != 2) || !is_open(fd)) return Errno::badf;
  Buffers buffers;
  if (Errno error = buffers.load(memory, vectors, count); error != Errno::success) return error;
  if (buffers.bytes > UINT32_MAX) return Errno::inval;
  if (!memory.store(done, static_cast<std::uint32_t>(buffers.bytes))) return Errno::fault;
  if (state_.output_bytes > max_output_ || buffers.bytes > max_output_ - state_.output_bytes)
    return end(LimitReached{LimitKind::output, ""});
  OutputSink& sink = fd == 1 ? streams_.output : streams_.errors;
  for (auto buffer : buffers.all()) {
    if (buffer.empty()) continue;
    if (!sink.write(buffer)) return Errno::io;
    state_.output_bytes += buffer.size();
  }
  return Errno::success;
}

}  // namespace gw::isolate
