#pragma once
// Fair queueing of bytes that a relay carries for others.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "base/bytes.h"
#include "base/token_bucket.h"
#include "transport/connection/liveness.h"

namespace gw::transport {

// Hands on the bytes of many flows, piece by piece (small ones are joined): as many bytes of each as of the others, however large their
// pieces are and however many wait (deficit round robin, Shreedhar and Varghese), and of all together no more per second than was allowed
// (a token bucket).
//
// Invariant: a flow is in the order of turns exactly if something of it waits. Limits: Config. Pure; the time is handed in.
class FairShare {
 public:
  struct Config {
    std::size_t bytes_per_second = 32u << 20;
    std::size_t burst = 512u << 10;   // after a pause
    std::size_t quantum = 16u << 10;  // in one turn
    std::size_t waiting = 32u << 20;  // of all flows
  };
  using Flow = std::uint64_t;
  struct Piece {
    Flow flow;
    Bytes bytes;
  };

  FairShare(Config config, Time now)
      : config_(config), bucket_({static_cast<double>(config.bytes_per_second), static_cast<double>(config.burst)}, now) {}

  // Kind::overloaded: too much waits already. REQUIRES: `bytes` is not empty.
  Status push(Flow flow, Bytes bytes);
  // The next piece whose turn it is, if there are tokens for it.
  std::optional<Piece> take(Time now);
  // When take() will have something to give; Time::max() if nothing waits.
  Time next_deadline(Time now);
  // Drops what waits of the flow.
  void drop(Flow flow);

  bool waits(Flow flow) const { return flows_.contains(flow); }
  std::size_t waiting_bytes() const { return waiting_; }

 private:
  struct Queue {
    std::deque<Bytes> pieces;
    std::size_t bytes = 0;
    std::size_t deficit = 0;
  };

  const Config config_;
  TokenBucket bucket_;
  std::map<Flow, Queue> flows_;
  std::deque<Flow> turns_;
  std::size_t waiting_ = 0;
};

}  // namespace gw::transport
