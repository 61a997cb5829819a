#pragma once
// The scenario of an overlay simulation: the grid, its disturbances, and the goals it must reach.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "outcome.h"
#include "overlay/figures.h"

namespace gw::sim::overlay_simulation {

// A figure of the run (figures.h) and its limit.
struct Goal {
  enum class Side : std::uint8_t { at_most, at_least };
  std::string figure;
  Side side = Side::at_most;
  double limit = 0;
};
// A figure that was not measured does not meet its goal.
bool meets(const Goal& goal, const Figures& figures);

// Shares and probabilities are in [0, 1].
struct Scenario {
  std::uint32_t peers = 100;
  Time duration{std::chrono::seconds(120)};
  Time start{std::chrono::seconds(1)};  // all start within it; the first one, through which the others join, at once
  double loss = 0;
  double duplicate = 0;
  double spikes = 0.05;
  double outbound = 0;  // share of peers that cannot be dialled
  double liars = 0;
  double churn_per_minute = 0;  // share of peers that die, each for about a minute
  std::string churn_trace;      // file: lines of "seconds peer join|leave"; empty: none
  double killed = 0;            // share of peers that die permanently
  Time killed_at{std::chrono::seconds(60)};
  Time split_at{0};  // in two halves
  Time split_for{0};
  double busy = 0;                 // share of peers without a free slot
  double requests_per_second = 0;  // keys to be located, or with `busy` placed
  Time requests_from{std::chrono::seconds(60)};
  Time bytes_from{std::chrono::seconds(0)};  // bytes are counted from then on
  bool swarm = false;                        // faults of all kinds, drawn from the seed, in the first half of the time
  bool until_good = false;                   // the run ends when all goals are met; otherwise it takes its whole time

  // Other runs to compare with.
  std::vector<std::uint32_t> sizes;  // instead of `peers`: one run each
  bool beside_honest = false;        // the same without liars

  std::vector<Goal> goals;

  // Kind::invalid with the line, for unknown keys too.
  static Result<Scenario> read(const std::filesystem::path& file);
};

// The faults of a swarm run. Each run leaves some kinds out, so that others have their effect.
struct FaultMix {
  double loss = 0;
  double duplicate = 0;
  double outbound = 0;
  double liars = 0;
  double slow = 0;       // share of peers that process messages slowly
  double drift = 0;      // share of peers whose clock drifts by 1000 ppm, and jumps
  double crash = 0;      // each per peer and second
  double power_cut = 0;  // the whole host dies: dials are not answered
  double pause = 0;
  double cut = 0;  // partitions per second

  static FaultMix draw(Rng& rng);
};

}  // namespace gw::sim::overlay_simulation
