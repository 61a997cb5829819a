#pragma once
// The queue of frames to be written to one connection, in order.

#include <array>
#include <cstddef>
#include <deque>
#include <optional>

#include "transport/connection/message_assembler.h"

namespace gw::transport {

// Control before bulk, first come first served within a lane, messages cut into frames. Pure.
//
// Bounded: a peer that does not read only makes push() fail. Pings, pongs, credit and the goodbye have a place of their own each, so that
// they neither wait for room nor accumulate.
class SendQueue {
 public:
  struct Config {
    std::size_t control_bytes = 8u << 20;
    std::size_t bulk_bytes = 32u << 20;
    std::size_t relayed_bytes = 32u << 20;
    std::size_t messages = 1u << 16;  // in each lane
  };

  explicit SendQueue(Config config) : config_(config) {}

  // Kind::overloaded: the other side does not read; the message is not queued. Kind::invalid: the message is longer than kMaxMessageBytes.
  Status push(Message message);
  // An earlier one that has not been written yet is replaced.
  void push_ping(std::uint64_t number) { ping_ = number; }
  void push_pong(std::uint64_t number) { pong_ = number; }
  void push_credit(std::uint64_t taken) { credit_ = taken; }
  // The messages that go before the goodbye.
  enum class Rest : std::uint8_t { nothing, control };
  // Drops everything else that is queued; a message whose first frames have been written may stay unfinished.
  void end_with(Bytes goodbye, Rest rest);

  bool empty() const;
  std::size_t queued_bytes(Lane lane) const { return lanes_[static_cast<std::size_t>(lane)].bytes; }

  // Appends frames until the queue is empty or `batch` has `batch_bytes`, and of bulk `bulk_bytes` (it may pass both by one frame). How
  // many bytes of bulk it took.
  std::size_t take(Bytes& batch, std::size_t batch_bytes, std::size_t bulk_bytes);

 private:
  struct Outgoing {
    Message message;
    std::size_t sent = 0;
  };
  struct LaneQueue {
    std::deque<Outgoing> waiting;
    std::size_t bytes = 0;
  };
  std::size_t limit(Lane lane) const;
  std::size_t take_frame(Bytes& batch, LaneQueue& lane);
  LaneQueue& lane(Lane which) { return lanes_[static_cast<std::size_t>(which)]; }

  const Config config_;
  std::array<LaneQueue, kLanes> lanes_;
  std::optional<std::uint64_t> ping_, pong_, credit_;
  std::optional<Bytes> goodbye_;
};

}  // namespace gw::transport
