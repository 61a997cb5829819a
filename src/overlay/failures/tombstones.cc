#include "overlay/failures/tombstones.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::overlay {

void Tombstones::add(Tombstone tombstone) {
  const PeerId peer = tombstone.peer.id;
  if (tombstones_.size() >= config_.most && !tombstones_.contains(peer)) {
    GW_REACHED("tombstones: the oldest made room");
    tombstones_.erase(std::ranges::min_element(tombstones_, {}, [](const auto& other) { return other.second.since; }));
  }
  tombstones_.insert_or_assign(peer, std::move(tombstone));
}

void Tombstones::expire(Time now) {
  std::erase_if(tombstones_, [&](const auto& tombstone) { return now - tombstone.second.since > config_.kept; });
}

const Tombstones::Tombstone* Tombstones::find(const PeerId& peer) const {
  const auto found = tombstones_.find(peer);
  return found != tombstones_.end() ? &found->second : nullptr;
}

bool Tombstones::covers(const Descriptor& peer, std::uint64_t round) const {
  const Tombstone* tombstone = find(peer.id);
  if (tombstone == nullptr) return false;
  if (peer.incarnation <= tombstone->peer.incarnation || GW_BUG(12)) return true;
  // A descriptor newer than the one known at the death but made before it: such descriptors circulate for a while. Ages are counted in
  // whole rounds by each carrier, so they may be slightly too low. A later boot is always accepted.
  const std::uint64_t age = peer.age + peer.age / 4u + 2;
  return peer.incarnation.boot == tombstone->peer.incarnation.boot && peer.age > 1 && age > round - tombstone->round;
}

std::vector<const Tombstones::Tombstone*> Tombstones::all() const {
  std::vector<const Tombstone*> list;
  for (const auto& [peer, tombstone] : tombstones_) list.push_back(&tombstone);
  return list;
}

}  // namespace gw::overlay
