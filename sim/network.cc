#include "network.h"

#include <cmath>

namespace gw::sim {

// Exponential: most are quick, some overtake.
Time Network::delay() {
  const double uniform = static_cast<double>(1 + rng_.below(1'000'000)) / 1e6;
  return std::chrono::microseconds(200) + Time(static_cast<std::int64_t>(-std::log(uniform) * faults_.delay_ms * 1e6));
}

std::vector<Time> Network::arrivals(Time now, std::size_t from, std::size_t to, std::size_t bytes) {
  Time& line = line_busy_until_[from];
  line = std::max(line, now) + Time(static_cast<std::int64_t>(static_cast<double>(bytes) / 1024 * faults_.wire_us_per_kib * 1e3));
  if (chance(faults_.loss)) return {};
  const auto clogged = clogged_until_.find({from, to});
  const Time leaves = clogged == clogged_until_.end() ? line : std::max(line, clogged->second);
  std::vector<Time> times{leaves + delay()};
  if (chance(faults_.duplicate)) times.push_back(leaves + delay() * 5);
  return times;
}

bool Network::reachable(Time now, std::size_t from, std::size_t to) const {
  const auto cut = cut_until_.find({from, to});
  return cut == cut_until_.end() || cut->second <= now;
}

void Network::heal() {
  cut_until_.clear();
  clogged_until_.clear();
  line_busy_until_.clear();
  faults_ = FaultMix::none();
}

}  // namespace gw::sim
