#include <algorithm>
#include <cmath>

#include "overlay/checks.h"

namespace gw::sim::overlay_simulation {
namespace {

// How often each host is in the cache of a live honest peer.
std::vector<double> appearances(std::span<const Host> hosts, const Index& index) {
  std::vector<double> count(hosts.size());
  for (const Host& host : hosts)
    if (host.counts())
      for (const auto& entry : host.overlay->sampler().cache().entries()) count[index.at(entry.id.hash)] += 1;
  return count;
}

}  // namespace

std::vector<double> in_degrees(std::span<const Host> hosts, const Index& index) {
  const std::vector<double> count = appearances(hosts, index);
  std::vector<double> degrees;
  for (const Host& host : hosts)
    if (host.counts()) degrees.push_back(count[host.index]);
  std::ranges::sort(degrees);
  return degrees;
}

double dead_cache_entries(std::span<const Host> hosts, const Index& index) {
  const std::vector<double> count = appearances(hosts, index);
  double all = 0;
  double dead = 0;
  for (const Host& host : hosts) {
    all += count[host.index];
    if (!host.up()) dead += count[host.index];
  }
  return all == 0 ? 0 : dead / all;
}

double good_size_estimates(std::span<const Host> hosts) {
  const auto size = static_cast<double>(std::ranges::count_if(hosts, &Host::up));
  double good = 0;
  double all = 0;
  for (const Host& host : hosts) {
    if (!host.counts()) continue;
    all += 1;
    good += std::abs(host.overlay->size() - size) <= 0.2 * size;
  }
  return all == 0 ? 0 : good / all;
}

}  // namespace gw::sim::overlay_simulation
