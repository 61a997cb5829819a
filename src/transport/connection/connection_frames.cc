// Handling of the frames that a connection receives.

#include <utility>

#include "transport/connection/connection.h"
#include "transport/peer_text.h"

namespace gw::transport {
namespace {

constexpr std::uint16_t kProtocol = 1;
constexpr std::uint64_t kCreditBytes = 64u << 10;  // less than any window, so that no sender waits for credit that is not given

}  // namespace

void Connection::push_hello() {
  ByteWriter payload;
  payload.u16(kProtocol);
  payload.u64(boot_);
  // The queue is empty, so there is room.
  GW_ASSERT(enqueue({FrameKind::hello, Lane::control, 0, payload.take()}).has_value());
}

Status Connection::on_bytes() {
  while (!ended_) {
    GW_TRY(auto frame, decoder_.next());
    if (!frame) return ok();
    read_frames_.take(came_, 1);
    GW_TRY_VOID(on_frame(*frame));
  }
  return ok();
}

Status Connection::on_frame(const Frame& frame) {
  if (frame.kind == FrameKind::goodbye) {
    on_goodbye(frame);
    return ok();
  }
  if (frame.kind == FrameKind::hello) return on_hello(frame);
  if (!ready_) return fail(Kind::invalid, "it sent a frame before its hello");
  liveness_.on_frame(came_);
  switch (frame.kind) {
    case FrameKind::ping: {
      GW_TRY(std::uint64_t number, ByteReader(frame.payload).u64());
      queue_.push_pong(number);
      if (way_ != Way::relayed) used_ = now();
      wake_writer();
      return ok();
    }
    case FrameKind::pong:
      return ok();  // a frame came: that is all it says
    case FrameKind::credit: {
      GW_TRY(std::uint64_t taken, ByteReader(frame.payload).u64());
      GW_TRY_VOID(window_.on_credit(came_, taken));
      wake_writer();
      return ok();
    }
    case FrameKind::refusal:
      requests_.on_answer(frame.stream, decode_refusal(frame.payload));
      return ok();
    case FrameKind::call:
    case FrameKind::called:
    case FrameKind::circuit_open:
    case FrameKind::circuit_offer:
    case FrameKind::circuit_data:
    case FrameKind::circuit_credit:
    case FrameKind::circuit_close:
      used_ = now();
      return owner_.on_circuit_frame(*this, frame);
    default:
      return on_part(frame);
  }
}

Status Connection::on_hello(const Frame& frame) {
  if (ready_) return fail(Kind::invalid, "it said hello twice");
  ByteReader reader(frame.payload);
  GW_TRY(std::uint16_t protocol, reader.u16());
  if (protocol != kProtocol)
    return fail(Kind::unsupported, "it speaks version {} of the protocol, not {}: update the older side", protocol, kProtocol);
  GW_TRY(peer_boot_, reader.u64());
  ready_ = true;
  liveness_.on_ready(came_);
  wake_by(liveness_.next_deadline());
  owner_.on_ready(*this);
  return ok();
}

Status Connection::on_part(const Frame& frame) {
  GW_TRY(auto message, assembler_.add(frame));
  used_ = came_;
  if (frame.lane == Lane::bulk) credit(frame);
  liveness_.on_lane(used_, frame.lane, assembler_.unfinished(frame.lane));
  wake_by(liveness_.next_deadline());
  if (!message) return ok();
  ++traffic_.messages_in;
  switch (message->kind) {
    case FrameKind::request:
      return on_request(*std::move(message));
    case FrameKind::answer:
      requests_.on_answer(message->stream, std::move(message->bytes));
      return ok();
    default:
      owner_.on_message(*this, *std::move(message));
      return ok();
  }
}

void Connection::credit(const Frame& frame) {
  bulk_taken_ += frame.payload.size();
  if (bulk_taken_ - bulk_credited_ < kCreditBytes) return;
  bulk_credited_ = bulk_taken_;
  queue_.push_credit(bulk_taken_);
  wake_writer();
}

Status Connection::on_request(Message message) {
  if (asked_.contains(message.stream)) return fail(Kind::invalid, "it asked twice under number {}", message.stream);
  if (asked_.size() >= config_.open_requests) {
    Error refused = fail(Kind::overloaded, "{} requests of this peer are open already", asked_.size());
    return push({FrameKind::refusal, Lane::control, message.stream, encode_refusal(refused)});
  }
  asked_.insert(message.stream);
  owner_.on_message(*this, std::move(message));
  return ok();
}

void Connection::on_goodbye(const Frame& frame) {
  ByteReader reader(frame.payload);
  auto reason = reader.u8();
  std::string words = printable(frame.payload.subspan(reader.position()));
  const Cause cause = reason && *reason == static_cast<std::uint8_t>(Goodbye::idle) ? Cause::idle : Cause::goodbye_theirs;
  break_off({cause, fmt::format("it said goodbye ({}): {}", reason ? *reason : 0, words)});
}

}  // namespace gw::transport
