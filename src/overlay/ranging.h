#pragma once
// How far somebody is: the round trip of pings.

#include <vector>

#include "base/rng.h"
#include "overlay/output.h"

namespace gw::overlay {

// Measures some peers at a time, each by several pings one after the other, of which the shortest counts: a delay adds to a round trip,
// nothing takes away from it. The numbers of pings are random: whoever answers before it was asked would have to guess them.
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
    Coordinate coordinate;  // what the peer says, last
  };

  Ranging(const Config& config, Rng& rng) : config_(config), rng_(rng) {}

  // Not if it is under way already, or too much is.
  void measure(Time now, const PeerId& peer, Output& out);
  void on_pong(Time now, const PeerId& from, const Message::Ping& pong, Output& out);
  void on_unreachable(const PeerId& peer);
  // Gives up waiting: what was measured until then counts.
  void on_tick(Time now);
  Time next_deadline() const;

  // What was measured since the last call.
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
