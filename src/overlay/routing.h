#pragma once
// The rule by which a message for a key finds the peer that answers for it.

#include <span>

#include "overlay/contacts.h"
#include "overlay/ring.h"

namespace gw::overlay {

// Only who can be dialled answers for keys: the way to others is longer, and breaks sooner.
inline bool can_be_root(const Descriptor& peer) { return can_be_dialled(peer); }

// Where to send it; nullptr: `self` answers for the key. Pastry's rule: within the leafset the closest of all; else somebody who shares one
// digit more with the key; else whoever shares as many and is closer. Suspected peers are bypassed, and those in `avoid`, which is
// for hops that were tried in vain.
//
// Difference from Pastry: where it would take the one entry of a slot, this takes the nearest of two that is not suspected.
const Descriptor* next_hop(const Hash256& key, const Descriptor& self, const Ring& ring, const Contacts& contacts,
                           std::span<const PeerId> avoid);

}  // namespace gw::overlay
