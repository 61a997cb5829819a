#include "job/slot_leases.h"

#include <algorithm>

#include "base/planted_bug.h"

namespace gw::job {

std::uint32_t SlotLeases::free_slots() const {
  std::uint32_t used = 0;
  for (const auto& [job, grant] : grants_)
    if (grant.claimed || !GW_BUG(1)) used += grant.slots;
  return config_.slots - std::min(used, config_.slots);
}

const SlotLeases::Grant* SlotLeases::reserve(Time now, const PeerId& home, const JobId& job, std::uint32_t wanted) {
  if (const auto found = grants_.find(job); found != grants_.end()) {
    Grant& grant = found->second;
    return grant.home == home && !grant.claimed ? &grant : nullptr;
  }
  const std::uint32_t slots = std::min({free_slots(), wanted, room_for(home)});
  if (slots == 0) return nullptr;
  Grant grant{.home = home, .job = job, .claim = ++next_claim_, .slots = slots, .expires = now + config_.offer_for};
  return &grants_.emplace(job, grant).first->second;
}

const SlotLeases::Grant* SlotLeases::claim(Time now, const PeerId& home, const JobId& job, std::uint64_t claim) {
  const auto found = grants_.find(job);
  if (found == grants_.end() || found->second.home != home || found->second.claim != claim) return nullptr;
  found->second.claimed = true;
  found->second.expires = now + config_.lease_for;
  return &found->second;
}

const SlotLeases::Grant* SlotLeases::find(const JobId& job) const {
  const auto found = grants_.find(job);
  return found == grants_.end() ? nullptr : &found->second;
}

bool SlotLeases::release(const PeerId& home, const JobId& job, std::uint64_t claim) {
  const auto found = grants_.find(job);
  if (found == grants_.end() || found->second.home != home || found->second.claim != claim) return false;
  grants_.erase(found);
  return true;
}

std::vector<SlotLeases::Grant> SlotLeases::resize(std::uint32_t slots, const std::vector<JobId>& also) {
  config_.slots = slots;
  std::vector<Grant> ended;
  const auto end = [&](std::map<JobId, Grant>::iterator grant) {
    ended.push_back(grant->second);
    grants_.erase(grant);
  };
  for (const JobId& job : also)
    if (const auto found = grants_.find(job); found != grants_.end()) end(found);
  const auto used = [this] {
    std::uint64_t sum = 0;
    for (const auto& [job, grant] : grants_) sum += grant.slots;
    return sum;
  };
  while (used() > slots && !GW_BUG(38)) end(std::ranges::max_element(grants_, {}, [](const auto& entry) { return entry.second.claim; }));
  return ended;
}

namespace {

struct Held {
  std::uint64_t slots = 0, jobs = 0;
};

Held held_by(const PeerId& origin, const std::map<JobId, SlotLeases::Grant>& grants) {
  Held held;
  for (const auto& [job, grant] : grants)
    if (grant.home == origin) ++held.jobs, held.slots += grant.slots;
  return held;
}

}  // namespace

std::uint32_t SlotLeases::room_for(const PeerId& origin) const {
  if (origin == config_.caps.self) return config_.slots;
  const Held held = held_by(origin, grants_);
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

std::vector<SlotLeases::Grant> SlotLeases::set_caps(const Caps& caps) {
  config_.caps = caps;
  std::vector<Grant> latest_first;
  for (const auto& [job, grant] : grants_) latest_first.push_back(grant);
  std::ranges::sort(latest_first, std::ranges::greater(), &Grant::claim);
  std::vector<Grant> ended;
  for (const Grant& grant : latest_first) {
    if (!beyond_caps(grant.home)) continue;
    ended.push_back(grant);
    grants_.erase(grant.job);
  }
  return ended;
}

std::vector<SlotLeases::Grant> SlotLeases::expire(Time now) {
  std::vector<Grant> ended;
  std::erase_if(grants_, [&](const auto& entry) {
    if (entry.second.expires > now) return false;
    ended.push_back(entry.second);
    return true;
  });
  return ended;
}

Time SlotLeases::next_deadline() const {
  Time next = kNever;
  for (const auto& [job, grant] : grants_) next = std::min(next, grant.expires);
  return next;
}

}  // namespace gw::job
