#include "overlay/key_questions.h"

#include "overlay/internet.h"

namespace gw::sim::overlay_simulation {

using gw::overlay::Output;
using gw::overlay::Overlay;

// The host whose id is nearest to the key, computed from all live hosts.
std::uint32_t KeyQuestions::root_of(const Hash256& key) const {
  const std::uint64_t place = on_ring(key);
  std::uint32_t best = 0;
  std::uint64_t least = ~std::uint64_t{0};
  for (const Host& host : population_.hosts) {
    const std::uint64_t distance = ring_distance(on_ring(host.id.hash), place);
    if (host.up() && distance < least) std::tie(best, least) = std::pair(host.index, distance);
  }
  return best;
}

void KeyQuestions::ask(TurnTaker& turns) {
  if (agenda_.now() < scenario_.requests_from) return;
  for (double left = scenario_.requests_per_second; chance(rng_, left); left -= 1) {
    Host& host = population_.hosts[rng_.below(population_.hosts.size())];
    Hash256 key;
    for (std::uint8_t& byte : key.bytes) byte = static_cast<std::uint8_t>(rng_.below(256));
    if (!host.up() || host.byzantine != nullptr) continue;
    turns.take_turn_now(host, [&](Overlay& overlay, Time now, Output& out) {
      const std::uint64_t number = scenario_.busy > 0 ? overlay.place(now, key, 1, out) : overlay.locate(now, key, out);
      requests_.ask(host.index, number, {key, root_of(key)});
    });
  }
}

// A right answer is the root at the time of the question or of the answer; when slots are looked for, a live host with a free slot.
void KeyQuestions::on_located(Host& host, const gw::overlay::Located& located) {
  const Requests::Request* request = requests_.find(host.index, located.number);
  if (request == nullptr) return;
  Requests::Answer answer = Requests::Answer::none;
  if (located.found) {
    const auto found = population_.index.find(located.host.id.hash);
    GW_ASSERT(found != population_.index.end());
    const std::uint32_t there = found->second;
    const bool right = scenario_.busy > 0 ? population_.hosts[there].up() && population_.hosts[there].free_slots > 0
                                          : there == request->root || there == root_of(request->key);
    answer = right ? Requests::Answer::right : Requests::Answer::wrong;
  }
  requests_.close(host.index, located.number, answer, located.hops);
}

}  // namespace gw::sim::overlay_simulation
