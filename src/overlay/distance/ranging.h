#pragma once
// Measures the distance to peers: the round trip of pings.

#include <vector>

#include "base/rng.h"
#include "overlay/output.h"

namespace gw::overlay {

// Measures some peers at a time, each by several pings one after the other, of which the shortest counts: a delay adds to a round trip,
// nothing takes away from it. The numbers of pings are random: a peer that answers before it gets the ping would have to guess them.
//
// Limits: Config. A machine without I/O or threads. Differences from Zorilla, whose idea this is: pings of one peer do not overlap.
class Ranging {
 public:
  struct Config {
    unsigned pings = 3;  // that count: one before them may have had to wait for a connection
    std::size_t at_once = 6;
    Time patience = std::chrono::seconds(3);  // with one ping
  };
  struct Range {
    PeerId peer;
    Time round_trip;
    Coordinate coordinate;  // in the peer's last answer
  };

  Ranging(const Config& config, Rng& rng) : config_(config), rng_(rng) {}

  // Begins to measure, unless a measurement of the peer is under way or the limit is reached.
  void measure(Time now, const PeerId& peer, Output& out);
  void on_pong(Time now, const PeerId& from, const Message::Ping& pong, Output& out);
  void on_unreachable(const PeerId& peer);
  // Ends measurements that take too long: the round trips so far count.
  void on_tick(Time now);
  Time next_deadline() const;

  // The measurements since the last call.
  std::vector<Range> take();
  std::size_t size() const { return under_way_.size(); }

 private:
  struct UnderWay {
    PeerId peer;
    std::uint64_t number;
    unsigned answered = 0;
    Time sent;
    Time shortest = kNever;
    Coordinate coordinate;
  };

  void ping(Time now, UnderWay& one, Output& out);
  void finish(const UnderWay& one);

  const Config config_;
  Rng& rng_;
  std::vector<UnderWay> under_way_;
  std::vector<Range> ranges_;
};

}  // namespace gw::overlay
