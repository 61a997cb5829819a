#pragma once
// A synthetic Internet: how long a message takes from one host to another.

#include <array>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "outcome.h"

namespace gw::sim::overlay_simulation {

// Hosts stand at sites, sites on a plane; each host has an access line of its own. The way between two sites is a little longer or shorter
// than the straight one, so that no coordinates fit exactly. On top of it each message meets jitter, and some meet a queue.
class Internet {
 public:
  struct Config {
    double spikes = 0.05;  // of round trips
    Time spike_mean = std::chrono::milliseconds(150);
    Time jitter_mean = std::chrono::microseconds(500);
    Time side = std::chrono::milliseconds(120);  // of the plane, as a round trip
    double detour = 0.1;                         // at most, either way
  };

  // Nothing goes from one host to another in less.
  static constexpr Time kLeast = std::chrono::milliseconds(1);

  Internet(const Config& config, std::uint32_t hosts, Rng rng);

  // Undisturbed.
  Time round_trip(std::uint32_t a, std::uint32_t b) const;
  // Of one message, now.
  Time one_way(std::uint32_t from, std::uint32_t to, Rng& rng) const;

 private:
  struct Host {
    std::uint32_t site;
    std::array<float, 2> position;  // microseconds of round trip
    float access;
  };

  Config config_;
  std::uint64_t detours_;  // seed
  std::vector<Host> hosts_;
};

// A random number in [0, 1); one that is exponentially distributed; whether something of that probability happens.
double uniform(Rng& rng);
Time exponential(Rng& rng, Time mean);
bool chance(Rng& rng, double probability);

}  // namespace gw::sim::overlay_simulation
