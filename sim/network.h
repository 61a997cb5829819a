#pragma once
// The simulated network: which nodes can reach each other, and the delay of messages.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "faults/fault_script.h"

namespace gw::sim {

// Delay, loss and duplication of messages; temporary partitions (also of one direction) and clogged links.
class Network {
 public:
  Network(const FaultMix& faults, Rng rng) : faults_(faults), rng_(rng) {}

  // The arrival times of the copies of a message; none if it is lost. Each sender has one line: a long message delays the next.
  std::vector<Time> arrivals(Time now, std::size_t from, std::size_t to, std::size_t bytes);
  // Whether a message that arrives now is delivered.
  bool reachable(Time now, std::size_t from, std::size_t to) const;
  bool both_reachable(Time now, std::size_t a, std::size_t b) const { return reachable(now, a, b) && reachable(now, b, a); }
  bool damages() { return chance(faults_.damage); }

  void cut(std::size_t from, std::size_t to, Time until) { cut_until_[{from, to}] = until; }
  void clog(std::size_t from, std::size_t to, Time until) { clogged_until_[{from, to}] = until; }
  void heal();

 private:
  bool chance(double probability) { return static_cast<double>(rng_.below(1'000'000)) < probability * 1e6; }
  Time delay();

  FaultMix faults_;
  Rng rng_;
  std::map<std::size_t, Time> line_busy_until_;
  std::map<std::pair<std::size_t, std::size_t>, Time> cut_until_;
  std::map<std::pair<std::size_t, std::size_t>, Time> clogged_until_;
};

}  // namespace gw::sim
