#include "overlay/internet.h"

#include <algorithm>
#include <cmath>

namespace gw::sim::overlay_simulation {

namespace {

constexpr double kLeastAccess = static_cast<double>(Internet::kLeast / std::chrono::microseconds(1));

}  // namespace

double uniform(Rng& rng) { return static_cast<double>(rng.next() >> 11) * 0x1.0p-53; }

Time exponential(Rng& rng, Time mean) {
  return Time(static_cast<std::int64_t>(-std::log(1 - uniform(rng)) * static_cast<double>(mean.count())));
}

bool chance(Rng& rng, double probability) { return probability > 0 && uniform(rng) < probability; }

Internet::Internet(const Config& config, std::uint32_t hosts, Rng rng) : config_(config), detours_(rng.next()) {
  const double side = static_cast<double>(config.side.count()) / 1e3;
  const std::uint32_t sites = std::clamp(hosts / 10, 5U, 60U);
  std::vector<std::array<double, 2>> centres;
  for (std::uint32_t i = 0; i < sites; ++i) centres.push_back({uniform(rng) * side, uniform(rng) * side});
  for (std::uint32_t i = 0; i < hosts; ++i) {
    const auto site = static_cast<std::uint32_t>(rng.below(sites));
    const auto near = [&](double centre) { return static_cast<float>(centre + (uniform(rng) - 0.5) * 3000); };
    const double access = kLeastAccess + static_cast<double>(exponential(rng, std::chrono::milliseconds(4)).count()) / 1e3;
    hosts_.push_back({site, {near(centres[site][0]), near(centres[site][1])}, static_cast<float>(access)});
  }
}

Time Internet::round_trip(std::uint32_t a, std::uint32_t b) const {
  const Host& from = hosts_[a];
  const Host& to = hosts_[b];
  Rng pair(detours_ ^ ((std::uint64_t{std::min(from.site, to.site)} << 32) | std::max(from.site, to.site)));
  const double factor = 1 + config_.detour * (2 * uniform(pair) - 1);
  const double straight = std::hypot(from.position[0] - to.position[0], from.position[1] - to.position[1]);
  const std::chrono::nanoseconds time(static_cast<std::int64_t>((straight * factor + from.access + to.access) * 1e3));
  return std::max<Time>(time, 2 * kLeast);  // numbers are rounded
}

Time Internet::one_way(std::uint32_t from, std::uint32_t to, Rng& rng) const {
  Time delay = round_trip(from, to) / 2 + exponential(rng, config_.jitter_mean / 2);
  if (chance(rng, config_.spikes / 2)) delay += exponential(rng, config_.spike_mean);
  return delay;
}

}  // namespace gw::sim::overlay_simulation
