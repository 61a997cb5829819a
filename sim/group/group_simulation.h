#pragma once
// A simulated group of a job: its members alone, without the peers around them.

#include <cstdint>
#include <memory>
#include <vector>

#include "group/group_checks.h"
#include "group/scenario.h"
#include "group/simulated_member.h"
#include "network.h"
#include "outcome.h"
#include "run_log.h"
#include "timeline.h"

namespace gw::sim::group_simulation {

// Three parts: faults of all kinds drawn from the seed, while entries are proposed; then everything is healed, and all members must have
// all entries; then the leader dies for ever, and the others must lead on and replace it.
class GroupSimulation {
 public:
  GroupSimulation(const Scenario& scenario, std::uint64_t seed, Trace trace);

  Outcome run();

 private:
  void send(std::size_t from, const job::GroupSend& send);
  std::size_t copies(const job::GroupMember& member, std::uint64_t index) const;
  void draw_second();
  void partition();
  void propose();
  // Members that are there want the group to be what it should be, and have everything. Empty: so it is.
  std::string why_not_whole() const;
  const SimulatedMember* leader() const;
  void run_until_whole(const std::string& part);
  bool chance(double probability) { return static_cast<double>(rng_.below(1'000'000)) < probability * 1e6; }

  const Scenario scenario_;
  Timeline timeline_;
  RunLog log_;
  Rng rng_;
  FaultMix mix_;
  Network network_;
  GroupChecks checks_;
  std::vector<std::unique_ptr<SimulatedMember>> nodes_;
  std::uint64_t proposed_ = 0;
  bool healed_ = false;
};

}  // namespace gw::sim::group_simulation
