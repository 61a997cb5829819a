// Keys that are located, and slots that are looked for.

#include <cmath>

#include "overlay/overlay_simulation.h"

namespace gw::sim::overlay_simulation {

using gw::overlay::Output;
using gw::overlay::Overlay;

// Who answers for a key, seen from outside.
std::uint32_t OverlaySimulation::root_of(const Hash256& key) const {
  const std::uint64_t place = on_ring(key);
  std::uint32_t best = 0;
  std::uint64_t least = ~std::uint64_t{0};
  for (const Host& host : hosts_) {
    const std::uint64_t distance = ring_distance(on_ring(host.id.hash), place);
    if (host.up() && distance < least) std::tie(best, least) = std::pair(host.index, distance);
  }
  return best;
}

void OverlaySimulation::ask() {
  if (now_ < scenario_.requests_from) return;
  for (double left = scenario_.requests_per_second; chance(rng_, left); left -= 1) {
    Host& host = hosts_[rng_.below(hosts_.size())];
    Hash256 key;
    for (std::uint8_t& byte : key.bytes) byte = static_cast<std::uint8_t>(rng_.below(256));
    if (!host.up() || host.byzantine != nullptr) continue;
    take_turn_now(host, [&](Overlay& overlay, Time now, Output& out) {
      const std::uint64_t number = scenario_.busy > 0 ? overlay.place(now, key, 1, out) : overlay.locate(now, key, out);
      requests_.ask(host.index, number, {key, root_of(key)});
    });
  }
}

// Right is the root of the moment of the question or of that of the answer; or, of a place, who has room.
void OverlaySimulation::on_located(Host& host, const gw::overlay::Located& located) {
  const Requests::Request* request = requests_.find(host.index, located.number);
  if (request == nullptr) return;
  Requests::Answer answer = Requests::Answer::none;
  if (located.found) {
    const auto found = index_.find(located.host.id.hash);
    GW_ASSERT(found != index_.end());
    const std::uint32_t there = found->second;
    const bool right =
        scenario_.busy > 0 ? hosts_[there].up() && hosts_[there].free_slots > 0 : there == request->root || there == root_of(request->key);
    answer = right ? Requests::Answer::right : Requests::Answer::wrong;
  }
  requests_.close(host.index, located.number, answer, located.hops);
}

}  // namespace gw::sim::overlay_simulation
