#include "job/home/slot_declines.h"

#include <fmt/format.h>

#include <algorithm>

namespace gw::job {

using Decline = JobMessage::Decline;

namespace {

Reason reason_of(Decline::Why why) {
  switch (why) {
    case Decline::RULES:
      return Reason::lenders_refuse;
    case Decline::NEEDS:
      return Reason::needs_not_met;
    case Decline::DISK_FULL:
      return Reason::lender_disk_full;
    case Decline::WORKERS_FAIL:
      return Reason::workers_fail;
    default:
      return Reason::no_free_slots;
  }
}

}  // namespace

// How many peers have refused for each reason, and what the last of them said.
struct SlotDeclines::Counts {
  std::map<Decline::Why, std::size_t> by_reason;
  std::map<Decline::Why, std::string> sentence;
  std::size_t all = 0;

  std::size_t of(Decline::Why why) const { return by_reason.contains(why) ? by_reason.at(why) : 0; }
};

void SlotDeclines::add(Time now, const PeerId& peer, Decline decline) {
  if (entries_.size() >= config_.peers && !entries_.contains(peer))
    entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.at; }));
  entries_[peer] = {std::move(decline), now};
}

SlotDeclines::Counts SlotDeclines::count() const {
  Counts counts;
  for (const auto& [peer, entry] : entries_) {
    ++counts.by_reason[entry.decline.why()];
    counts.sentence[entry.decline.why()] = entry.decline.sentence();
    ++counts.all;
  }
  return counts;
}

// The need that no peer met which refused because of needs, with the most that one of them has.
std::string SlotDeclines::lacking(const Requirements& needs) const {
  std::vector<Capacity> capacities;
  for (const auto& [peer, entry] : entries_)
    if (entry.decline.why() == Decline::NEEDS) capacities.push_back(entry.decline.capacity());
  return shortfall(needs, capacities);
}

Explanation SlotDeclines::why_no_slot(const Situation& situation) const {
  const std::uint64_t wanted = situation.policy.slots(), has = situation.claims.slots();
  if (has >= wanted) return {Reason::job_limit, fmt::format("the job has {} slots and asked for at most {}", has, wanted)};
  if (!situation.search.has_answers(situation.now))
    return {Reason::slots_asked, fmt::format("{} peers have been asked and have not answered yet", situation.search.expected().size())};
  const Counts counts = count();
  const std::size_t refused = counts.of(Decline::RULES) + counts.of(Decline::DISK_FULL) + counts.of(Decline::WORKERS_FAIL);
  const std::size_t alive = situation.live_peers.all_alive().size();
  if (alive <= 1 && has == 0 && counts.all == counts.of(Decline::RULES)) return Reason::no_peers;
  if (counts.all == 0) return {Reason::slots_asked, fmt::format("{} peers are alive, and none has answered yet", alive)};
  if (counts.all == 1)
    return {reason_of(counts.by_reason.begin()->first), fmt::format("one machine has answered: {}", counts.sentence.begin()->second)};
  std::vector<std::string> parts;
  if (const std::size_t busy = counts.of(Decline::BUSY); busy > 0)
    parts.push_back(fmt::format("{} of {} machines that answered are busy ({})", busy, counts.all, counts.sentence.at(Decline::BUSY)));
  if (const std::size_t small = counts.of(Decline::NEEDS); small > 0)
    parts.push_back(fmt::format("{} of {} lack what each worker needs ({})", small, counts.all, lacking(situation.policy.needs())));
  if (refused > 0) parts.push_back(fmt::format("{} of {} do not lend to this job", refused, counts.all));
  const Reason reason = counts.of(Decline::BUSY) > 0    ? Reason::no_free_slots
                        : counts.of(Decline::NEEDS) > 0 ? Reason::needs_not_met
                                                        : Reason::lenders_refuse;
  return {reason, fmt::format("{}; the job has {} of the {} slots it wants", fmt::join(parts, "; "), has, wanted)};
}

std::vector<PeerReason> SlotDeclines::why_not(const Situation& situation) const {
  std::vector<PeerReason> reasons;
  for (const auto& [peer, entry] : entries_)
    if (situation.claims.find(peer) == nullptr) reasons.push_back({peer, {reason_of(entry.decline.why()), entry.decline.sentence()}});
  for (const LivePeers::LivePeer& peer : situation.live_peers.all_alive()) {
    if (reasons.size() >= config_.peers) break;
    if (situation.claims.find(peer.peer) == nullptr && situation.placement.is_distrusted(situation.now, peer.peer) &&
        !entries_.contains(peer.peer))
      reasons.push_back({peer.peer, {Reason::host_blames, "threads of the job made no progress or were refused there"}});
  }
  std::ranges::sort(reasons, {}, &PeerReason::peer);
  return reasons;
}

}  // namespace gw::job
