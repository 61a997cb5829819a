#pragma once
// A scenario with one seed: one run, or several that are compared; and the goals.

#include <optional>
#include <string>
#include <vector>

#include "overlay/overlay_simulation.h"

namespace gw::sim::overlay_simulation {

// Of the process until now: time, CPU time, and the most memory that it has had.
struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;
  double mebibytes = 0;

  static Cost so_far();
};

// Of a scenario with `sizes`, every figure comes once for each size, with it at the end of its name (hops_1000), and the spread between
// them is a figure, too (bytes_per_peer_minute_spread: the most over the least, minus one). Of one with `beside_honest` there are
// coordinate_error_honest and coordinate_error_ratio.
class Trial {
 public:
  // `threads`: none given, as many as pay.
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
