#pragma once
// Injects faults into a simulated grid, second by second.

#include <optional>
#include <set>

#include "faults/fault_script.h"
#include "simulated_transport.h"

namespace gw::sim {

// Draws faults from a mix, or takes them from a script, and carries them out. Records every fault. A value of the simulation; the other
// parts outlive it.
class FaultInjector {
 public:
  // `slots`: the slots each node lends before any fault changes them.
  FaultInjector(Nodes& nodes, std::uint32_t slots, SimulatedTransport& transport, Timeline& timeline, RunLog& log)
      : nodes_(nodes), slots_(slots), transport_(transport), timeline_(timeline), log_(log) {}

  // Injects faults from now on, until heal().
  void draw_from(const FaultMix& mix, Rng rng);
  void replay(const std::vector<Fault>& faults);
  // Ends all faults and starts every node that is down and not permanently dead.
  void heal();

  void kill_for_good(SimulatedNode& node);
  bool dead_for_good(const SimulatedNode& node) const { return dead_.contains(node.index()); }
  // Carries out one fault now.
  void crash(SimulatedNode& node, const Fault& fault);

  bool healed() const { return healed_; }
  // Whether a disk has lost a blob, a record or a part of an output.
  bool any_rotted() const { return any_rotted_; }
  const std::vector<Fault>& done() const { return done_; }

 private:
  bool chance(double per_second) { return static_cast<double>(rng_.below(1'000'000)) < per_second * 1e6; }
  void draw_second();
  void draw(FaultKind kind, std::size_t node, Time longest);
  void happen(const Fault& fault);
  void partition(const Fault& fault);
  void stop(SimulatedNode& node, const Fault& fault);
  void end_when_drained(SimulatedNode& node, const Fault& fault, std::uint32_t slots, Time until);

  Nodes& nodes_;
  const std::uint32_t slots_;
  SimulatedTransport& transport_;
  Timeline& timeline_;
  RunLog& log_;
  FaultMix mix_;
  Rng rng_{0};
  std::set<std::size_t> dead_;
  std::vector<Fault> done_;
  bool healed_ = false;
  bool any_rotted_ = false;
  std::optional<std::size_t> stopping_;  // from the request to the next boot
};

}  // namespace gw::sim
