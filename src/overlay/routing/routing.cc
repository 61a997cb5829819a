#include "overlay/routing/routing.h"

#include <algorithm>

#include "base/reached.h"
#include "overlay/routing/key_space.h"

namespace gw::overlay {

const Descriptor* next_hop(const Hash256& key, const Descriptor& self, const Ring& ring, const Contacts& contacts,
                           std::span<const PeerId> avoid) {
  const auto is_usable = [&](const Descriptor& peer) {
    return can_be_root(peer) && !contacts.is_suspected(peer.id) && std::ranges::find(avoid, peer.id) == avoid.end();
  };
  const Descriptor* best = can_be_root(self) ? &self : nullptr;
  const auto consider = [&](const Descriptor& peer) {
    if (is_usable(peer) && (best == nullptr || is_closer(key, peer.id.hash, best->id.hash))) best = &peer;
  };
  const auto chosen = [&] { return best == &self ? nullptr : best; };
  if (key == self.id.hash || ring.leafset().covers(key)) {
    for (const Descriptor& leaf : ring.leafset().members()) consider(leaf);
    return chosen();
  }
  for (const PrefixTable::Entry& entry : ring.table().next(key))
    if (is_usable(entry.peer)) return &entry.peer;
  GW_REACHED("routing: nobody in the slot");
  const unsigned digits = common_digits(key, self.id.hash);
  const auto consider_row = [&](const Descriptor& peer) {
    if (common_digits(key, peer.id.hash) >= digits) consider(peer);
  };
  for (const Descriptor& leaf : ring.leafset().members()) consider_row(leaf);
  for (const PrefixTable::Entry& entry : ring.table().entries()) consider_row(entry.peer);
  return chosen();
}

}  // namespace gw::overlay
