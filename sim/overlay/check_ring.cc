#include <algorithm>

#include "overlay/checks.h"

namespace gw::sim::overlay_simulation {
namespace {

// The order of a leafset: going up from its owner, first the successors, then the predecessors.
bool is_perfect(const std::vector<const Host*>& ring, std::size_t owner) {
  const std::size_t others = ring.size() - 1;
  const auto leaves = ring[owner]->overlay->ring().leafset().members();
  const std::size_t half = ring[owner]->overlay->ring().leafset().half();
  if (leaves.size() != std::min(others, 2 * half)) return false;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const std::size_t way = i < half ? i + 1 : others - (leaves.size() - 1 - i);
    if (leaves[i].id != ring[(owner + way) % ring.size()]->id) return false;
  }
  return true;
}

}  // namespace

double perfect_leafsets(std::span<const Host> hosts) {
  std::vector<const Host*> ring;
  for (const Host& host : hosts)
    if (host.up()) ring.push_back(&host);
  std::ranges::sort(ring, {}, [](const Host* host) { return host->id; });
  std::size_t honest = 0;
  std::size_t perfect = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    if (ring[i]->byzantine != nullptr) continue;
    ++honest;
    perfect += is_perfect(ring, i);
  }
  return honest == 0 ? 1 : static_cast<double>(perfect) / static_cast<double>(honest);
}

}  // namespace gw::sim::overlay_simulation
