#include "overlay/routing/placer.h"

#include <algorithm>

#include "base/reached.h"
#include "overlay/routing/key_space.h"

namespace gw::overlay {

Placer::Decision Placer::decide(Time now, const Request& request) {
  std::erase_if(recent_grants_, [&](const auto& grant) { return grant.second.until <= now; });
  std::uint32_t most = free_at(self_);
  if (most >= request.demand) {
    give(now, self_.id, request.demand);
    return Accept{};
  }
  const Descriptor* best = nullptr;
  for (const Descriptor& leaf : leafset_.members()) {
    if (!can_be_dialled(leaf) || contacts_.is_suspected(leaf.id)) continue;
    const std::uint32_t free = free_at(leaf);
    if (free >= request.demand && (best == nullptr || free > free_at(*best))) best = &leaf;
    most = std::max(most, free);
  }
  if (request.diversions < config_.diversions && best != nullptr) {
    GW_REACHED("placer: a leaf has room");
    give(now, best->id, request.demand);
    return Divert{best};
  }
  if (request.diversions < config_.searches) {
    if (const Descriptor* other = farthest_from(request.key)) return Divert{other};
  }
  return Refuse{most};
}

std::uint32_t Placer::free_at(const Descriptor& peer) const {
  const auto grant = recent_grants_.find(peer.id);
  if (grant == recent_grants_.end()) return peer.free_slots;
  return peer.free_slots - std::min(peer.free_slots, grant->second.slots);
}

void Placer::give(Time now, const PeerId& peer, std::uint32_t slots) {
  if (recent_grants_.size() >= config_.recent_grants && !recent_grants_.contains(peer)) return;
  RecentGrant& grant = recent_grants_[peer];
  grant = {grant.slots + slots, now + config_.grant_lasts};
}

// The farthest leaf knows peers that this one does not know, and that no earlier hop of the request has tried.
const Descriptor* Placer::farthest_from(const Hash256& key) const {
  const std::span<const Descriptor> leaves = leafset_.members();
  const std::size_t half = leafset_.half();
  if (leaves.size() < 2 * half) return nullptr;  // the leafset has all peers of the grid
  const Descriptor* ends[] = {&leaves[half - 1], &leaves[half]};
  if (is_closer(key, ends[0]->id.hash, ends[1]->id.hash)) std::swap(ends[0], ends[1]);
  for (const Descriptor* end : ends)
    if (can_be_dialled(*end) && !contacts_.is_suspected(end->id)) return end;
  return nullptr;
}

}  // namespace gw::overlay
