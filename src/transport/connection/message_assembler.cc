#include "transport/connection/message_assembler.h"

#include <algorithm>
#include <utility>

namespace gw::transport {

Result<std::optional<Message>> MessageAssembler::add(const Frame& frame) {
  auto& part = parts_[static_cast<std::size_t>(frame.lane)];
  if (!part) part = Message{.kind = frame.kind, .lane = frame.lane, .stream = frame.stream};
  if (part->kind != frame.kind || part->stream != frame.stream)
    return fail(Kind::invalid, "a message began before the one before it in the same lane was complete");
  if (frame.payload.size() > kMaxMessageBytes - part->bytes.size())
    return fail(Kind::invalid, "a message has more than {} bytes", kMaxMessageBytes);
  // Grows in few steps: copying what is there is most of what a long message costs.
  const std::size_t size = part->bytes.size() + frame.payload.size();
  if (frame.more && part->bytes.capacity() < size) part->bytes.reserve(std::min(kMaxMessageBytes, size * 4));
  part->bytes.insert(part->bytes.end(), frame.payload.begin(), frame.payload.end());
  if (frame.more) return std::optional<Message>();
  return std::exchange(part, std::nullopt);
}

}  // namespace gw::transport
