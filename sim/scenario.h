#pragma once
// What a simulation consists of: the grid and the job from a file, the faults from the seed.

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "outcome.h"

namespace gw::sim {

struct Scenario {
  std::uint32_t peers = 4;
  std::uint32_t slots = 2;  // of each peer
  std::uint32_t jobs = 1;   // each at another home
  std::uint32_t tasks = 8;  // of each job
  std::uint32_t wanted_slots = 6;
  std::uint32_t steps = 40;  // of each task, at most
  Time step{std::chrono::milliseconds(100)};
  Time checkpoint_every{std::chrono::milliseconds(1000)};
  Time fault_time{std::chrono::seconds(60)};  // afterwards everything is healed
  Time heal_time{std::chrono::seconds(240)};  // by then the job must have ended
  bool faults = true;
  bool pure = false;         // guests neither read clocks nor fork
  bool input = false;        // the one task of each job reads standard input
  std::uint32_t liars = 0;   // peers that also say what others have said
  std::uint32_t graves = 0;  // peers that die for good, none of them a home
  bool cancelled = false;    // the jobs, in the middle
  bool home_dies = false;    // for good: the first job never ends, and nothing of it may stay anywhere
  Time keeper_patience{std::chrono::minutes(30)};

  // Kind::invalid with the line, for unknown keys too.
  static Result<Scenario> read(const std::filesystem::path& file);
};

}  // namespace gw::sim
