// The standard streams of a guest.

#include <algorithm>

#include "isolate/wasi/wasi.h"

namespace gw::isolate {
namespace {

constexpr std::size_t kReadAhead = 64u << 10;
// One call takes at most this much, so that a guest held up by a slow reader of its output is held up for a bounded amount.
constexpr std::uint64_t kMaxWrite = 64u << 10;

}  // namespace

Wasi::Input Wasi::look_for_input() {
  if (!state_.input.empty()) return Input::ready;
  if (state_.input_ended) return Input::ended;
  Bytes buffer(kReadAhead);
  auto read = world_.input.read(buffer);
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

// What a read returns never goes past what the source gave at once, so it does not depend on how much more has come by then.
CallResult Wasi::read_input(GuestMemory memory, const GuestBuffers& buffers, std::uint32_t done) {
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
    moved = std::min<std::uint64_t>(buffers.bytes, state_.input.size());
    buffers.each_part(0, moved, [&](std::uint64_t offset, std::span<std::uint8_t> part) {
      std::memcpy(part.data(), state_.input.data() + offset, part.size());
      return true;
    });
  }
  unpark();
  if (!memory.store(done, static_cast<std::uint32_t>(moved))) return Errno::fault;
  state_.input.erase(state_.input.begin(), state_.input.begin() + static_cast<std::ptrdiff_t>(moved));
  return Errno::success;
}

CallResult Wasi::write_output(GuestMemory memory, Descriptor::Kind stream, const GuestBuffers& buffers, std::uint32_t done) {
  if (!world_.thread.has_room(Outlet::output)) return park_for_room(Outlet::output);
  std::uint64_t bytes = std::min(buffers.bytes, kMaxWrite);
  if (!memory.store(done, static_cast<std::uint32_t>(bytes))) return Errno::fault;
  if (state_.output_bytes > max_output_ || bytes > max_output_ - state_.output_bytes) return end(LimitReached{LimitKind::output, ""});
  OutputSink& sink = stream == Descriptor::Kind::output ? world_.output : world_.errors;
  bool written = true;
  buffers.each_part(0, bytes, [&](std::uint64_t, std::span<std::uint8_t> part) {
    written = sink.write(part).has_value();
    if (written) state_.output_bytes += part.size();
    return written;
  });
  return written ? Errno::success : Errno::io;
}

}  // namespace gw::isolate
