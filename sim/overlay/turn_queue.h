#pragma once
// The turns that wait in one window of an overlay simulation.

#include <cstdint>
#include <vector>

#include "overlay/host.h"
#include "overlay/turn.h"

namespace gw::sim::overlay_simulation {

// Turns in the order of their events; those of one host are linked, so that one thread takes them in order. The memory of turns is reused.
class TurnQueue {
 public:
  Turn& add(Host& host, Turn::Kind kind, std::uint32_t other, Time now);

  // The first turn of each host that has one.
  const std::vector<std::uint32_t>& first_turns() const { return first_turns_; }
  void forget_first_turns() { first_turns_.clear(); }
  Turn& at(std::size_t number) { return turns_[number]; }
  std::size_t size() const { return waiting_; }
  void clear() { waiting_ = 0; }

 private:
  std::vector<Turn> turns_;  // the first `waiting_` wait
  std::size_t waiting_ = 0;
  std::vector<std::uint32_t> first_turns_;
};

}  // namespace gw::sim::overlay_simulation
