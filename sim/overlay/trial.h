#pragma once
// A scenario with one seed: one run, or several that are compared; and the goals.

#include <optional>
#include <string>
#include <vector>

#include "overlay/overlay_simulation.h"

namespace gw::sim::overlay_simulation {

// The process so far: elapsed time, CPU time and peak memory.
struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;
  double mebibytes = 0;

  static Cost so_far();
};

// A scenario with `sizes` has every figure once per size, with the size at the end of its name (hops_1000), and the spread between sizes as
// a figure (bytes_per_peer_minute_spread: largest over smallest, minus one). A scenario with `beside_honest` has coordinate_error_honest
// and coordinate_error_ratio.
class Trial {
 public:
  // `threads`: none chooses a number by the size of the grid.
  Trial(const Scenario& scenario, std::optional<unsigned> threads) : scenario_(scenario), threads_(threads) {}

  Outcome run(std::uint64_t seed, Trace trace);

  const Figures& figures() const { return figures_; }
  const Series& series() const { return series_; }  // of the last run

 private:
  Figures run_one(const Scenario& scenario, std::uint64_t seed, Trace trace);
  void run_sizes(std::uint64_t seed, Trace trace);
  void judge();

  const Scenario scenario_;
  const std::optional<unsigned> threads_;
  Figures figures_;
  Series series_;
  Outcome outcome_;
};

}  // namespace gw::sim::overlay_simulation
