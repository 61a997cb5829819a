#pragma once
// The hosts of an overlay simulation.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "overlay/host.h"
#include "overlay/scenario.h"

namespace gw::sim::overlay_simulation {

// All hosts of the run, by number, by id and by address. Which of them have firewalls, lie or are slow is drawn once. Must not be moved:
// hosts refer to the grid.
struct Population {
  // `rng` draws the world, `fault_rng` the faults.
  Population(const Scenario& scenario, const FaultMix& faults, Rng& rng, Rng& fault_rng);
  Population(const Population&) = delete;
  Population& operator=(const Population&) = delete;

  std::optional<std::uint32_t> at_address(const std::string& address) const;

  gw::overlay::GridId grid;
  std::vector<Host> hosts;
  std::unordered_map<Hash256, std::uint32_t> index;
};

}  // namespace gw::sim::overlay_simulation
