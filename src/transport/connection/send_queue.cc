#include "transport/connection/send_queue.h"

#include <algorithm>
#include <utility>

namespace gw::transport {
namespace {

void append_number(Bytes& batch, FrameKind kind, std::uint64_t number) {
  ByteWriter payload;
  payload.u64(number);
  append_frame(batch, {.kind = kind, .payload = payload.view()});
}

}  // namespace

std::size_t SendQueue::limit(Lane lane) const {
  switch (lane) {
    case Lane::control:
      return config_.control_bytes;
    case Lane::bulk:
      return config_.bulk_bytes;
    case Lane::relayed:
      break;
  }
  return config_.relayed_bytes;
}

Status SendQueue::push(Message message) {
  auto& lane = lanes_[static_cast<std::size_t>(message.lane)];
  std::size_t size = message.bytes.size();
  if (size > kMaxMessageBytes)
    return fail(Kind::invalid, "a message of {} bytes is longer than {}: send it in parts", size, kMaxMessageBytes);
  if (size > limit(message.lane) - lane.bytes || lane.waiting.size() >= config_.messages)
    return fail(Kind::overloaded, "{} bytes in {} messages wait for this peer already, which does not take them: try again later",
                lane.bytes, lane.waiting.size());
  lane.bytes += size;
  lane.waiting.push_back({std::move(message)});
  return ok();
}

void SendQueue::end_with(Bytes goodbye, Rest rest) {
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    if (rest == Rest::nothing || lane != static_cast<std::size_t>(Lane::control)) lanes_[lane] = {};
  ping_.reset();
  pong_.reset();
  credit_.reset();
  goodbye_ = std::move(goodbye);
}

bool SendQueue::empty() const {
  return !ping_ && !pong_ && !credit_ && !goodbye_ &&
         std::ranges::all_of(lanes_, [](const LaneQueue& lane) { return lane.waiting.empty(); });
}

std::size_t SendQueue::take(Bytes& batch, std::size_t batch_bytes, std::size_t bulk_bytes) {
  if (ping_) append_number(batch, FrameKind::ping, *std::exchange(ping_, std::nullopt));
  if (pong_) append_number(batch, FrameKind::pong, *std::exchange(pong_, std::nullopt));
  if (credit_) append_number(batch, FrameKind::credit, *std::exchange(credit_, std::nullopt));
  LaneQueue &control = lane(Lane::control), &bulk = lane(Lane::bulk);
  while (batch.size() < batch_bytes && !control.waiting.empty()) take_frame(batch, control);
  std::size_t taken = 0;
  while (batch.size() < batch_bytes && taken < bulk_bytes && !bulk.waiting.empty()) taken += take_frame(batch, bulk);
  LaneQueue& relayed = lane(Lane::relayed);
  while (batch.size() < batch_bytes && !relayed.waiting.empty()) take_frame(batch, relayed);
  if (goodbye_ && control.waiting.empty())
    append_frame(batch, {.kind = FrameKind::goodbye, .payload = *std::exchange(goodbye_, std::nullopt)});
  return taken;
}

std::size_t SendQueue::take_frame(Bytes& batch, LaneQueue& lane) {
  Outgoing& first = lane.waiting.front();
  const Message& message = first.message;
  std::size_t size = std::min(message.bytes.size() - first.sent, kMaxFramePayload);
  bool more = first.sent + size < message.bytes.size();
  append_frame(batch, {message.kind, message.lane, more, message.stream, ByteView(message.bytes).subspan(first.sent, size)});
  first.sent += size;
  if (more) return size;
  lane.bytes -= message.bytes.size();
  lane.waiting.pop_front();
  return size;
}

}  // namespace gw::transport
