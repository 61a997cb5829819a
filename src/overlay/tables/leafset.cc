#include "overlay/tables/leafset.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "overlay/routing/key_space.h"

namespace gw::overlay {

namespace {

// The order of the members; ids that share a place are told apart by the rest of them.
auto way(const PeerId& from, const PeerId& to) { return std::tuple(clockwise(position_of(from.hash), position_of(to.hash)), to); }

}  // namespace

std::vector<Descriptor>::const_iterator Leafset::lower_bound(const PeerId& peer) const {
  return std::ranges::lower_bound(members_, way(self_, peer), {}, [&](const Descriptor& member) { return way(self_, member.id); });
}

const Descriptor* Leafset::find(const PeerId& peer) const {
  const auto found = lower_bound(peer);
  return found != members_.end() && found->id == peer ? &*found : nullptr;
}

bool Leafset::wants(const PeerId& peer, const Incarnation& incarnation) const {
  if (peer == self_) return false;
  const auto found = lower_bound(peer);
  if (found != members_.end() && found->id == peer) return found->incarnation < incarnation;
  // A full leafset has no room for a peer that would come into the middle: it is the farthest on either side.
  return !is_full() || static_cast<std::size_t>(found - members_.begin()) != half_;
}

Leafset::Offered Leafset::offer(const Descriptor& peer) {
  if (!wants(peer.id, peer.incarnation)) return Offered::ignored;
  const auto index = lower_bound(peer.id) - members_.cbegin();
  const auto found = members_.begin() + index;
  if (found != members_.end() && found->id == peer.id) {
    *found = peer;
    return Offered::renewed;
  }
  members_.insert(found, peer);
  // Removes the middle one of 2 * half + 1 peers: it is not among the `half` next ones on either side.
  if (members_.size() > 2 * half_) members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(half_));
  return Offered::entered;
}

bool Leafset::remove(const PeerId& peer) {
  const auto found = lower_bound(peer);
  if (found == members_.end() || found->id != peer) return false;
  members_.erase(found);
  return true;
}

void Leafset::grow_older() {
  for (Descriptor& member : members_)
    if (member.age < std::numeric_limits<std::uint16_t>::max()) ++member.age;
}

bool Leafset::covers(const Hash256& key) const {
  if (!is_full()) return true;
  const RingPosition first = position_of(members_[half_].id.hash);  // the farthest that comes before this peer
  const RingPosition last = position_of(members_[half_ - 1].id.hash);
  return clockwise(first, position_of(key)) <= clockwise(first, last);
}

}  // namespace gw::overlay
