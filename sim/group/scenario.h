#pragma once
// The scenario of a simulation of one group of a job: its size from a file, the faults from the seed.

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "outcome.h"

namespace gw::sim::group_simulation {

struct Scenario {
  std::uint32_t peers = 5;
  std::uint32_t members = 3;  // that the group has at first, and that its leader wants; the other peers replace those that are lost
  bool changes = false;       // healthy members leave now and then too
  Time fault_time{std::chrono::seconds(120)};
  Time heal_time{std::chrono::seconds(60)};  // by then all members have everything; and again after the leader has died for ever

  // Kind::invalid with the line, for unknown keys too.
  static Result<Scenario> read(const std::filesystem::path& file);
};

}  // namespace gw::sim::group_simulation
