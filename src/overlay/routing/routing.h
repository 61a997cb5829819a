#pragma once
// The rule by which a message for a key finds the peer that answers for it.

#include <span>

#include "overlay/membership/contacts.h"
#include "overlay/tables/ring.h"

namespace gw::overlay {

// Only peers that can be dialled are responsible for keys: connections to other peers take longer to make, and break sooner.
inline bool can_be_root(const Descriptor& peer) { return can_be_dialled(peer); }

// The next hop; nullptr: `self` is responsible for the key. Pastry's rule: within the leafset the closest peer; else a peer that shares one
// digit more with the key; else a peer that shares as many and is closer. Suspected peers are bypassed, and those in `avoid`, which are
// hops that did not answer.
//
// Difference from Pastry: where it would take the one entry of a slot, this takes the nearest of two that is not suspected.
const Descriptor* next_hop(const Hash256& key, const Descriptor& self, const Ring& ring, const Contacts& contacts,
                           std::span<const PeerId> avoid);

}  // namespace gw::overlay
