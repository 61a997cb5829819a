#include <algorithm>
#include <cmath>

#include "overlay/checks.h"
#include "overlay/distance/coordinates.h"

namespace gw::sim::overlay_simulation {
namespace {

constexpr int kPairs = 2000;

}  // namespace

std::vector<double> coordinate_errors(std::span<const Host> hosts, const Internet& internet, Rng rng) {
  std::vector<double> errors;
  for (int i = 0; i < kPairs; ++i) {
    const Host& a = hosts[rng.below(hosts.size())];
    const Host& b = hosts[rng.below(hosts.size())];
    if (a.index == b.index || !a.up() || !b.up() || a.byzantine != nullptr || b.byzantine != nullptr) continue;
    const double real = in_seconds(internet.round_trip(a.index, b.index));
    errors.push_back(std::abs(overlay::estimate(a.overlay->self().coordinate, b.overlay->self().coordinate) - real) / real);
  }
  std::ranges::sort(errors);
  return errors;
}

double median(const std::vector<double>& sorted) { return sorted.empty() ? 0 : sorted[sorted.size() / 2]; }

}  // namespace gw::sim::overlay_simulation
