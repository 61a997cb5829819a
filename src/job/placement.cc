#include "job/placement.h"

#include <algorithm>

#include "base/planted_bug.h"

namespace gw::job {

std::vector<Placement::Ask> Placement::ask(Time now, std::size_t wanted, const LivePeers& live_peers, const ClaimTable& claims) {
  std::erase_if(asked_, [&](const auto& entry) { return entry.second <= now; });
  std::vector<Ask> list;
  std::vector<LivePeers::LivePeer> last;
  const auto add = [&](const LivePeers::LivePeer& peer) {
    const auto slots = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, peer.free_slots));
    list.push_back({peer.peer, slots});
    asked_[peer.peer] = now + config_.offer_wait;
    wanted -= slots;
  };
  for (const LivePeers::LivePeer& peer : live_peers.all_alive()) {
    if (wanted == 0) return list;
    if (peer.free_slots == 0 || claims.find(peer.peer) != nullptr || asked_.contains(peer.peer)) continue;
    if (is_distrusted(now, peer.peer) && !GW_BUG(17)) {
      last.push_back(peer);
    } else {
      add(peer);
    }
  }
  // Better those than nobody; but only while there is nobody else.
  if (claims.empty() && list.empty())
    for (const LivePeers::LivePeer& peer : last)
      if (wanted > 0) add(peer);
  return list;
}

std::uint32_t Placement::usable(std::uint32_t slots, std::uint64_t memory) const {
  if (memory_ == 0 || memory == 0) return slots;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, memory / memory_));
}

std::optional<PeerId> Placement::host_for(const HomeThread& thread, const ClaimTable& claims, bool plenty) const {
  if (const auto host = claims.with_free_slot(thread.avoid)) return host;
  return plenty ? claims.with_room_ahead(thread.avoid) : std::nullopt;
}

std::size_t Placement::ahead(Time now, const Claim& claim, std::size_t waiting, std::size_t claims) const {
  const double seconds = std::max(1e-3, std::chrono::duration<double>(now - claim.since).count());
  const double ahead = static_cast<double>(claim.finished) / seconds * std::chrono::duration<double>(config_.batch).count();
  const std::size_t share = waiting / (2 * std::max<std::size_t>(claims, 1));
  const std::size_t most = config_.threads_per_claim - std::min<std::size_t>(config_.threads_per_claim, claim.slots);
  return std::min({static_cast<std::size_t>(ahead), share, most});
}

void Placement::distrust(Time now, const PeerId& peer) {
  std::erase_if(distrusted_, [&](const auto& entry) { return entry.second <= now; });
  if (distrusted_.size() < config_.distrusted || distrusted_.contains(peer)) distrusted_[peer] = now + config_.distrust_for;
}

bool Placement::is_distrusted(Time now, const PeerId& peer) const {
  const auto found = distrusted_.find(peer);
  return found != distrusted_.end() && found->second > now;
}

}  // namespace gw::job
