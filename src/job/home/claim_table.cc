#include "job/home/claim_table.h"

#include <algorithm>
#include <ranges>

namespace gw::job {
namespace {

std::size_t difference(std::size_t most, std::size_t used) { return most - std::min(most, used); }

// Threads beside those that are there, so that at most `slots` of them are not parked.
std::size_t room_in(const Claim& claim, std::size_t slots) {
  return std::min(difference(slots, claim.busy()), difference(claim.max_threads, claim.threads.size()));
}

std::size_t free_slots(const Claim& claim) { return room_in(claim, claim.slots); }
std::size_t room_ahead(const Claim& claim) { return room_in(claim, claim.slots + claim.extra_threads); }

}  // namespace

void ClaimTable::enter(const PeerId& peer, const Claim& claim) {
  if (const std::size_t free = free_slots(claim); free > 0) free_.emplace(free, peer);
  if (const std::size_t room = room_ahead(claim); room > 0) ahead_.emplace(room, peer);
}

void ClaimTable::leave(const PeerId& peer, const Claim& claim) {
  free_.erase({free_slots(claim), peer});
  ahead_.erase({room_ahead(claim), peer});
}

Claim& ClaimTable::add(const PeerId& peer, Claim claim) {
  const auto [found, fresh] = claims_.emplace(peer, std::move(claim));
  GW_ASSERT(fresh);
  slots_ += found->second.slots;
  enter(peer, found->second);
  return found->second;
}

void ClaimTable::remove(const PeerId& peer) {
  const auto found = claims_.find(peer);
  leave(peer, found->second);
  slots_ -= found->second.slots;
  claims_.erase(found);
}

void ClaimTable::clear() {
  claims_.clear();
  free_.clear();
  ahead_.clear();
  slots_ = 0;
}

Claim* ClaimTable::find(const PeerId& peer) {
  const auto found = claims_.find(peer);
  return found == claims_.end() ? nullptr : &found->second;
}

const Claim* ClaimTable::find(const PeerId& peer) const {
  const auto found = claims_.find(peer);
  return found == claims_.end() ? nullptr : &found->second;
}

void ClaimTable::attach(const PeerId& peer, ThreadId thread) {
  Claim& claim = claims_.at(peer);
  leave(peer, claim);
  claim.threads.insert(thread);
  enter(peer, claim);
}

void ClaimTable::detach(const PeerId& peer, ThreadId thread) {
  Claim* claim = find(peer);
  if (claim == nullptr) return;
  leave(peer, *claim);
  claim->threads.erase(thread);
  claim->parked.erase(thread);
  claim->max_threads = Claim::kUnlimited;
  enter(peer, *claim);
}

void ClaimTable::park(const PeerId& peer, ThreadId thread) {
  Claim* claim = find(peer);
  if (claim == nullptr || !claim->threads.contains(thread) || claim->parked.contains(thread)) return;
  leave(peer, *claim);
  claim->parked.insert(thread);
  enter(peer, *claim);
}

void ClaimTable::unpark(const PeerId& peer, ThreadId thread) {
  Claim* claim = find(peer);
  if (claim == nullptr || !claim->parked.contains(thread)) return;
  leave(peer, *claim);
  claim->parked.erase(thread);
  enter(peer, *claim);
}

void ClaimTable::limit(const PeerId& peer) {
  Claim* claim = find(peer);
  if (claim == nullptr) return;
  if (claim->idle()) ++claim->refusals;
  set_max_threads(peer, claim->threads.size());
}

void ClaimTable::set_max_threads(const PeerId& peer, std::size_t most) {
  Claim* claim = find(peer);
  if (claim == nullptr || claim->max_threads == most) return;
  leave(peer, *claim);
  claim->max_threads = most;
  enter(peer, *claim);
}

void ClaimTable::set_extra_threads(const PeerId& peer, std::size_t ahead) {
  Claim& claim = claims_.at(peer);
  if (claim.draining) return;
  leave(peer, claim);
  claim.extra_threads = ahead;
  enter(peer, claim);
}

void ClaimTable::drain(const PeerId& peer) {
  Claim& claim = claims_.at(peer);
  leave(peer, claim);
  slots_ -= claim.slots;
  claim.slots = 0;
  claim.extra_threads = 0;
  claim.draining = true;
  enter(peer, claim);
}

bool ClaimTable::has_free_slot(const PeerId& peer) const {
  const Claim* claim = find(peer);
  return claim != nullptr && free_slots(*claim) > 0;
}

// Cost: at most avoid.size() + 1 entries.
std::optional<PeerId> ClaimTable::first_of(const Index& index, std::span<const PeerId> avoid) {
  for (const auto& [room, peer] : index | std::views::reverse)
    if (std::ranges::find(avoid, peer) == avoid.end()) return peer;
  return index.empty() ? std::nullopt : std::optional(index.rbegin()->second);
}

std::optional<PeerId> ClaimTable::with_free_slot(std::span<const PeerId> avoid) const { return first_of(free_, avoid); }
std::optional<PeerId> ClaimTable::with_room_ahead(std::span<const PeerId> avoid) const { return first_of(ahead_, avoid); }

}  // namespace gw::job
