// The standard streams of a guest.

#include <algorithm>

#include "isolate/wasi/wasi.h"

namespace gw::isolate {
namespace {

constexpr std::size_t kReadAhead = 64u << 10;
// The most bytes of one call, so that a slow reader of the output delays a guest by a bounded amount.
constexpr std::uint64_t kMaxWrite = 64u << 10;

// The bytes of one call: all of the buffers, or as many whole lines as fit. They leave as one piece, so that output of other threads does
// not come between.
Bytes text_to_write(const GuestBuffers& buffers) {
  Bytes text;
  buffers.each_part(0, std::min(buffers.bytes, kMaxWrite), [&](std::uint64_t, std::span<std::uint8_t> part) {
    text.insert(text.end(), part.begin(), part.end());
    return true;
  });
  if (text.size() == buffers.bytes) return text;
  const auto line_end = std::find(text.rbegin(), text.rend(), '\n');
  if (line_end != text.rend()) text.erase(line_end.base(), text.end());
  return text;
}

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

// A read never returns more than one piece of the source, so that its result does not depend on how much more has arrived.
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
  const Bytes text = text_to_write(buffers);
  if (!memory.store(done, static_cast<std::uint32_t>(text.size()))) return Errno::fault;
  if (state_.output_bytes > max_output_ || text.size() > max_output_ - state_.output_bytes)
    return end(LimitReached{LimitKind::output, "", ""});
  OutputSink& sink = stream == Descriptor::Kind::output ? world_.output : world_.errors;
  if (text.empty()) return Errno::success;
  if (!sink.write(text)) return Errno::io;
  state_.output_bytes += text.size();
  return Errno::success;
}

}  // namespace gw::isolate
