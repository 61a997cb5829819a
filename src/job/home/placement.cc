#include "job/home/placement.h"

#include <algorithm>
#include <array>

#include "base/planted_bug.h"

namespace gw::job {

std::uint32_t Placement::usable(std::uint32_t slots, std::uint64_t memory) const {
  if (memory_ == 0 || memory == 0) return slots;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, memory / memory_));
}

std::optional<PeerId> Placement::host_for(const HomeThread& thread, const ClaimTable& claims, bool plenty) const {
  if (thread.preferred && claims.has_free_slot(*thread.preferred)) return thread.preferred;
  if (const auto host = claims.with_free_slot(thread.avoid)) return host;
  return plenty ? claims.with_room_ahead(thread.avoid) : std::nullopt;
}

std::optional<Placement::Retry> Placement::next_doubted(const ThreadTable& threads, const ClaimTable& claims) {
  for (const auto& [accuser, doubted] : threads.doubted()) {
    const std::array avoid{accuser};
    if (const auto host = claims.with_free_slot(avoid); host && *host != accuser) return Retry{doubted.begin()->second, *host};
  }
  return std::nullopt;
}

bool Placement::is_proven(const HomeThread& thread, bool lone) const {
  constexpr std::size_t kAgreeing = 2;
  return thread.faults.size() >= kAgreeing || (lone && thread.fault_reports >= config_.faults) || GW_BUG(18);
}

std::size_t Placement::ahead(Time now, const Claim& claim, std::size_t waiting, std::size_t claims) const {
  const double seconds = std::max(1e-3, std::chrono::duration<double>(now - claim.since).count());
  const double ahead = static_cast<double>(claim.finished) / seconds * std::chrono::duration<double>(config_.batch).count();
  const std::size_t share = waiting / (2 * std::max<std::size_t>(claims, 1));
  const std::size_t most = config_.threads_per_claim - std::min<std::size_t>(config_.threads_per_claim, claim.slots);
  return std::min({static_cast<std::size_t>(ahead), share, most});
}

void Placement::on_ended(Time duration) {
  constexpr std::size_t kRemembered = 64;
  if (durations_.size() < kRemembered) durations_.emplace_back();
  durations_[ended_++ % durations_.size()] = duration;
}

Time Placement::stall_bound(Time checkpoint_every) const {
  constexpr int kTimesTheMedian = 20;
  constexpr std::uint32_t kMostDoublings = 6;
  constexpr Time kLongest = std::chrono::days(365);  // far from an overflow
  const bool has_images = checkpoint_every > Time(0);
  Time bound = std::max(config_.stall, 4 * checkpoint_every);
  // No other peer sees progress of such a thread, and no thread has shown how long they run.
  if (!has_images && durations_.empty()) bound *= config_.own_word;
  if (!durations_.empty()) {
    std::vector<Time> durations = durations_;
    const auto median = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    std::ranges::nth_element(durations, median);
    bound = std::max(bound, kTimesTheMedian * std::min(*median, kLongest / kTimesTheMedian));
  }
  const std::uint32_t doublings = has_images ? std::min(stalls_, kMostDoublings) : stalls_;
  for (std::uint32_t i = 0; i < doublings && bound < kLongest; ++i) bound *= 2;
  return bound;
}

void Placement::on_stall(Time now, const PeerId& peer) {
  ++stalls_;
  distrust(now, peer);
}

bool Placement::others_have_room(Time now, const PeerId& peer, const LivePeers& live_peers, const ClaimTable& claims) const {
  const std::array avoid{peer};
  if (const auto other = claims.with_free_slot(avoid); other && *other != peer) return true;
  return std::ranges::any_of(live_peers.all_alive(), [&](const LivePeers::LivePeer& other) {
    return other.peer != peer && other.free_slots > 0 && !is_distrusted(now, other.peer);
  });
}

bool Placement::others_lend(Time now, const PeerId& peer, const LivePeers& live_peers, const ClaimTable& claims) const {
  return claims.size() > (claims.find(peer) != nullptr ? 1u : 0u) || others_have_room(now, peer, live_peers, claims);
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
