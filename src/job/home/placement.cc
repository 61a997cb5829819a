#include "job/home/placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/planted_bug.h"

namespace gw::job {

std::vector<Placement::Ask> Placement::ask(Time now, std::size_t wanted, const LivePeers& live_peers, const ClaimTable& claims) {
  const bool unanswered = std::erase_if(asked_, [&](const auto& entry) { return entry.second <= now; }) > 0;
  const bool answers_due = !asked_.empty();
  std::erase_if(refused_, [&](const auto& entry) { return entry.second <= now; });
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
    if (peer.free_slots == 0 || claims.find(peer.peer) != nullptr || asked_.contains(peer.peer) || refused_.contains(peer.peer)) continue;
    if (is_distrusted(now, peer.peer) && !GW_BUG(17)) {
      last.push_back(peer);
    } else {
      add(peer);
    }
  }
  // Ask distrusted peers only while the job has no claim and the others do not answer.
  if (claims.empty() && (unanswered || (list.empty() && !answers_due)))
    for (const LivePeers::LivePeer& peer : last)
      if (wanted > 0) add(peer);
  return list;
}

bool Placement::on_refused(Time now, const PeerId& peer) {
  if (!on_answer(peer)) return false;
  if (refused_.size() < config_.distrusted) refused_[peer] = now + config_.refused_for;
  return true;
}

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

Explanation Placement::why_no_slot(std::size_t wanted, const LivePeers& live_peers, const ClaimTable& claims) const {
  if (claims.slots() >= wanted)
    return {Reason::job_limit, fmt::format("the job has {} slots and asked for at most {}", claims.slots(), wanted)};
  if (!asked_.empty()) return {Reason::slots_asked, fmt::format("{} peers have been asked and have not answered yet", asked_.size())};
  const auto& alive = live_peers.all_alive();
  if (claims.empty() && !refused_.empty() &&
      std::ranges::all_of(alive, [&](const auto& peer) { return peer.free_slots == 0 || refused_.contains(peer.peer); }))
    return {Reason::lenders_refuse, fmt::format("{} of {} live peers refuse", refused_.size(), alive.size())};
  std::size_t lenders = 0, free = 0;
  for (const LivePeers::LivePeer& peer : alive) {
    lenders += peer.free_slots > 0 || claims.find(peer.peer) != nullptr ? 1 : 0;
    free += peer.free_slots;
  }
  if (alive.size() <= 1 && lenders == 0) return Reason::no_peers;
  return {Reason::no_free_slots, fmt::format("{} of {} live peers lend slots, {} slots are free, and the job has {} of the {} it wants",
                                             lenders, alive.size(), free, claims.slots(), wanted)};
}

std::vector<PeerReason> Placement::why_not(Time now, const LivePeers& live_peers, const ClaimTable& claims) const {
  std::vector<PeerReason> reasons;
  for (const LivePeers::LivePeer& peer : live_peers.all_alive()) {
    if (reasons.size() >= config_.explained) return reasons;
    if (claims.find(peer.peer) != nullptr) continue;
    if (peer.free_slots == 0) {
      reasons.push_back({peer.peer, {Reason::no_free_slots, "it has no free slot"}});
    } else if (refused_.contains(peer.peer)) {
      reasons.push_back({peer.peer, {Reason::lenders_refuse, "it does not lend to this job now"}});
    } else if (asked_.contains(peer.peer)) {
      reasons.push_back({peer.peer, {Reason::slots_asked, fmt::format("it announced {} free slots and was asked", peer.free_slots)}});
    } else if (is_distrusted(now, peer.peer)) {
      reasons.push_back({peer.peer, {Reason::host_blames, "threads of the job made no progress or were refused there"}});
    }
  }
  return reasons;
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
