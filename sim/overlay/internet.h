#pragma once
// A synthetic Internet: the delay of a message from one host to another.

#include <array>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "outcome.h"

namespace gw::sim::overlay_simulation {

// Hosts are at sites, sites on a plane; each host has its own access line. The delay between two sites differs a little from their distance
// on the plane, so that no coordinates fit exactly. Each message has jitter in addition, and some wait in a queue.
class Internet {
 public:
  struct Config {
    double spikes = 0.05;  // of round trips
    Time spike_mean = std::chrono::milliseconds(150);
    Time jitter_mean = std::chrono::microseconds(500);
    Time side = std::chrono::milliseconds(120);  // of the plane, as a round trip
    double detour = 0.1;                         // at most, either way
  };

  // The least delay between two hosts.
  static constexpr Time kLeast = std::chrono::milliseconds(1);

  Internet(const Config& config, std::uint32_t hosts, Rng rng);

  // The delay without jitter and queues.
  Time round_trip(std::uint32_t a, std::uint32_t b) const;
  // The delay of one message sent now.
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

// A random number in [0, 1); an exponentially distributed one; true with the given probability.
double uniform(Rng& rng);
Time exponential(Rng& rng, Time mean);
bool chance(Rng& rng, double probability);

}  // namespace gw::sim::overlay_simulation
