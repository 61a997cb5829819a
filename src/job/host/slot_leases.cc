#include "job/host/slot_leases.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {

std::uint32_t SlotLeases::free_slots() const {
  std::uint32_t used = 0;
  for (const auto& [job, grant] : grants_)
    if (grant.claimed || !GW_BUG(1)) used += grant.slots;
  return config_.slots - std::min(used, config_.slots);
}

std::size_t SlotLeases::shared_grants() const {
  return static_cast<std::size_t>(std::ranges::count_if(grants_, [](const auto& entry) { return entry.second.shared; }));
}

const SlotLeases::Grant* SlotLeases::reserve(Time now, const Wanted& wanted) {
  if (const auto found = grants_.find(wanted.job); found != grants_.end()) {
    Grant& grant = found->second;
    return grant.home == wanted.home && !grant.claimed ? &grant : nullptr;
  }
  if (const auto wait = waits_.find(wanted.home); wait != waits_.end() && now < wait->second.until) return nullptr;
  if (const auto rest = rests_.find(wanted.home); wanted.held && rest != rests_.end() && now < rest->second) return nullptr;
  wound_for(wanted);
  const auto [slots, free] = room_now(wanted);
  if (slots == 0) return nullptr;
  if (slots > free) GW_REACHED("lending: a user shares slots that others hold");
  Grant grant{.home = wanted.home,
              .job = wanted.job,
              .claim = ++next_claim_,
              .slots = slots,
              .consumer = wanted.consumer,
              .weight = wanted.weight,
              .priority = wanted.priority,
              .shared = slots > free,
              .may_hold = wanted.held,
              .submitted = wanted.submitted,
              .since = now,
              .expires = now + config_.offer_for};
  return &grants_.emplace(wanted.job, grant).first->second;
}

SlotLeases::Room SlotLeases::room_now(const Wanted& wanted) const {
  const std::uint32_t room = std::min(wanted.slots, room_for(wanted.home));
  const std::uint32_t free = std::min(free_slots(), room);
  if (!sharing_ || room <= free || shared_grants() >= config_.shared) return {free, free};
  const std::uint32_t part = part_of(wanted.weight, weights_with(wanted.consumer, wanted.weight));
  const std::uint32_t held = held_by_user(wanted.consumer, wanted.priority);
  return {std::max(free, std::min(room, part - std::min(part, held))), free};
}

// Takes slots away from the youngest gangs first, and only if the job gets more by that.
void SlotLeases::wound_for(const Wanted& wanted) {
  const auto age = [](const auto& job) { return std::pair(job.submitted, job.job); };
  std::vector<const Grant*> younger;
  std::uint32_t kept = 0;  // shared slots count too: what is taken away beyond the slots makes none free
  for (const auto& [job, grant] : grants_) {
    const bool may_be_taken = grant.held || (GW_BUG(221) && grant.claimed);
    if (may_be_taken && age(wanted) < age(grant)) {
      younger.push_back(&grant);
    } else {
      kept += grant.slots;
    }
  }
  const std::uint32_t reachable = std::min({wanted.slots, room_for(wanted.home), config_.slots - std::min(kept, config_.slots)});
  std::ranges::sort(younger, [&](const Grant* a, const Grant* b) { return age(*a) < age(*b); });
  while (!younger.empty() && room_now(wanted).slots < reachable) {
    GW_REACHED("lending: held slots are taken away for an older job");
    wounded_.push_back(*younger.back());
    grants_.erase(younger.back()->job);
    younger.pop_back();
  }
}

// By weight, at least one slot: claims without a whole slot take turns.
std::uint32_t SlotLeases::part_of(std::uint32_t weight, std::uint64_t all) const {
  return std::min(config_.slots, std::max(1u, static_cast<std::uint32_t>(std::uint64_t{config_.slots} * weight / all)));
}

std::uint64_t SlotLeases::weights_with(const ConsumerName& consumer, std::uint32_t weight) const {
  std::map<ConsumerName, std::uint32_t> weights{{consumer, weight}};
  for (const auto& [job, grant] : grants_)
    if (grant.draining_until == kNever) weights.emplace(grant.consumer, grant.weight);
  std::uint64_t all = 0;
  for (const auto& [user, one] : weights) all += one;
  return all;
}

std::uint32_t SlotLeases::held_by_user(const ConsumerName& consumer, std::uint32_t priority) const {
  std::uint64_t held = 0;
  for (const auto& [job, grant] : grants_)
    if (grant.consumer == consumer && grant.priority >= priority && grant.draining_until == kNever) held += grant.slots;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(held, config_.slots));
}

std::optional<SlotLeases::Grant> SlotLeases::make_room(const Wanted& wanted, Time until) {
  if (sharing_ || grants_.contains(wanted.job) || free_slots() > 0 || room_for(wanted.home) == 0) return std::nullopt;
  const bool leaving = std::ranges::any_of(grants_, [](const auto& entry) { return entry.second.draining_until != kNever; });
  const std::uint64_t all = weights_with(wanted.consumer, wanted.weight);
  if (leaving || held_by_user(wanted.consumer, wanted.priority) >= part_of(wanted.weight, all)) return std::nullopt;
  const Grant* chosen = nullptr;
  for (const auto& [job, grant] : grants_) {
    const bool lower = grant.consumer == wanted.consumer && grant.priority < wanted.priority;
    const bool beyond = grant.consumer != wanted.consumer && held_by_user(grant.consumer, 0) > part_of(grant.weight, all);
    if (grant.claimed && (lower || beyond) && (chosen == nullptr || grant.claim > chosen->claim)) chosen = &grant;
  }
  if (chosen == nullptr) return std::nullopt;
  GW_REACHED("lending: a claim beyond its user's part is drained for another user");
  std::vector<Grant> drained;
  drain(chosen->job, until, drained);
  return drained.empty() ? std::nullopt : std::optional(drained.front());
}

const SlotLeases::Grant* SlotLeases::claim(Time now, const PeerId& home, const JobId& job, std::uint64_t claim, std::uint32_t slots,
                                           const SlotHold& hold) {
  const auto found = grants_.find(job);
  if (found == grants_.end() || found->second.home != home || found->second.claim != claim) return nullptr;
  Grant& grant = found->second;
  if (!grant.claimed && slots > 0) grant.slots = std::min(grant.slots, slots);
  grant.claimed = true;
  if (!grant.used && (hold.round == 0 || hold.round >= grant.round)) {
    grant.held = hold.held && grant.may_hold;
    grant.round = std::max(grant.round, hold.round);
  }
  grant.expires = grant.held ? grant.since + config_.held_for : now + config_.lease_for;
  if (GW_BUG(223) && grant.held) grant.expires = kNever;
  return &grant;
}

const SlotLeases::Grant* SlotLeases::find(const JobId& job) const {
  const auto found = grants_.find(job);
  return found == grants_.end() ? nullptr : &found->second;
}

bool SlotLeases::release(Time now, const PeerId& home, const JobId& job, std::uint64_t claim) {
  const auto found = grants_.find(job);
  if (found == grants_.end() || found->second.home != home || found->second.claim != claim) return false;
  if (!found->second.used) on_unused(now, found->second);
  grants_.erase(found);
  return true;
}

std::vector<SlotLeases::Grant> SlotLeases::resize(std::uint32_t slots, const std::vector<JobId>& also, Time until) {
  config_.slots = slots;
  std::vector<Grant> leaving;
  for (const JobId& job : also)
    if (grants_.contains(job)) drain(job, until, leaving);
  std::uint64_t used = 0;
  std::vector<Grant> latest_first;
  for (const auto& [job, grant] : grants_) {
    if (grant.draining_until != kNever || (grant.shared && slots > 0)) continue;
    used += grant.slots;
    latest_first.push_back(grant);
  }
  std::ranges::sort(latest_first, std::ranges::greater(), &Grant::claim);
  for (const Grant& grant : latest_first) {
    if (used <= slots || GW_BUG(38)) break;
    used -= grant.slots;
    drain(grant.job, until, leaving);
  }
  return leaving;
}

// REQUIRES: it has a grant.
void SlotLeases::drain(const JobId& job, Time until, std::vector<Grant>& leaving) {
  Grant& grant = grants_.at(job);
  if (!grant.claimed || grant.held) {
    if (grant.held) wounded_.push_back(grant);
    grants_.erase(job);
    return;
  }
  const bool fresh = grant.draining_until == kNever;
  grant.draining_until = std::min(grant.draining_until, until);
  if (fresh) leaving.push_back(grant);
}

std::optional<SlotLeases::Grant> SlotLeases::end(const JobId& job) {
  const auto found = grants_.find(job);
  if (found == grants_.end()) return std::nullopt;
  const Grant grant = found->second;
  grants_.erase(found);
  return grant;
}

namespace {

struct Held {
  std::uint64_t slots = 0, jobs = 0;
};

Held held_by(const PeerId& origin, const std::map<JobId, SlotLeases::Grant>& grants) {
  Held held;
  for (const auto& [job, grant] : grants)
    if (grant.home == origin && grant.draining_until == kNever) ++held.jobs, held.slots += grant.slots;
  return held;
}

}  // namespace

std::uint32_t SlotLeases::room_for(const PeerId& origin) const {
  if (origin == config_.caps.self) return config_.slots;
  const Held held = held_by(origin, grants_);
  if (held.jobs >= config_.claims_per_origin) return 0;
  if (config_.caps.jobs_per_origin > 0 && held.jobs >= config_.caps.jobs_per_origin) return 0;
  if (config_.caps.slots_per_origin == 0) return config_.slots;
  return static_cast<std::uint32_t>(config_.caps.slots_per_origin - std::min<std::uint64_t>(held.slots, config_.caps.slots_per_origin));
}

bool SlotLeases::beyond_caps(const PeerId& origin) const {
  if (origin == config_.caps.self) return false;
  const Held held = held_by(origin, grants_);
  return (config_.caps.jobs_per_origin > 0 && held.jobs > config_.caps.jobs_per_origin) ||
         (config_.caps.slots_per_origin > 0 && held.slots > config_.caps.slots_per_origin);
}

std::vector<SlotLeases::Grant> SlotLeases::set_caps(const Caps& caps, Time until) {
  config_.caps = caps;
  std::vector<Grant> latest_first;
  for (const auto& [job, grant] : grants_) latest_first.push_back(grant);
  std::ranges::sort(latest_first, std::ranges::greater(), &Grant::claim);
  std::vector<Grant> leaving;
  for (const Grant& grant : latest_first)
    if (grant.draining_until == kNever && beyond_caps(grant.home)) drain(grant.job, until, leaving);
  return leaving;
}

void SlotLeases::on_used(const JobId& job) {
  const auto found = grants_.find(job);
  if (found == grants_.end()) return;
  found->second.used = true;
  waits_.erase(found->second.home);
}

// A home that gives unused slots back within a second need not wait for its next ones.
void SlotLeases::let_wait(Time now, const PeerId& origin, Time held) {
  constexpr std::uint32_t kMostDoublings = 3;
  constexpr Time kAtOnce = std::chrono::seconds(1);
  if (origin == config_.caps.self || held < kAtOnce) return;
  if (waits_.size() >= config_.waiting && !waits_.contains(origin))
    waits_.erase(std::ranges::min_element(waits_, {}, [](const auto& entry) { return entry.second.until; }));
  Wait& wait = waits_[origin];
  wait.until = now + held * (1u << std::min(wait.times, kMostDoublings));
  ++wait.times;
}

void SlotLeases::let_rest(Time now, const PeerId& origin, Time held) {
  if (origin == config_.caps.self) return;
  std::erase_if(rests_, [&](const auto& entry) { return entry.second <= now; });
  if (rests_.size() >= config_.waiting && !rests_.contains(origin))
    rests_.erase(std::ranges::min_element(rests_, {}, [](const auto& entry) { return entry.second; }));
  Time& until = rests_[origin];
  until = std::max(until, now + held);
}

std::optional<SlotLeases::Grant> SlotLeases::end_unused(Time now, const JobId& job, Time since) {
  std::optional<Grant> grant = end(job);
  if (grant) let_wait(now, grant->home, now - since);
  return grant;
}

std::vector<SlotLeases::Grant> SlotLeases::expire(Time now) {
  std::vector<Grant> ended;
  std::erase_if(grants_, [&](const auto& entry) {
    if (std::min(entry.second.expires, entry.second.draining_until) > now) return false;
    ended.push_back(entry.second);
    return true;
  });
  for (const Grant& grant : ended)
    if (!grant.used) on_unused(now, grant);
  return ended;
}

Time SlotLeases::next_deadline() const {
  Time next = kNever;
  for (const auto& [job, grant] : grants_) next = std::min({next, grant.expires, grant.draining_until});
  return next;
}

}  // namespace gw::job
