#include "job/lending/fair_turns.h"

#include <algorithm>
#include <tuple>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {
namespace {

double as_seconds(Time time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

bool FairTurns::set(Time now, const JobId& job, std::optional<Contender> contender) {
  const auto found = claims_.find(job);
  if (!contender) {
    if (found == claims_.end()) return false;
    charge(now);
    const ConsumerName consumer = found->second.contender.consumer;
    claims_.erase(found);
    if (std::ranges::none_of(claims_, [&](const auto& entry) { return entry.second.contender.consumer == consumer; }))
      virtual_times_.erase(consumer);
    return true;
  }
  contender->lanes = std::max({contender->lanes, contender->least, 1u});
  if (found != claims_.end()) {
    if (found->second.contender == *contender) return false;
    charge(now);
    found->second.contender = *contender;
    return true;
  }
  charge(now);
  // The newcomer begins where the one that has used least is now: neither ahead of it nor behind.
  double least = 0;
  bool first = true;
  for (const auto& [other, claim] : claims_)
    if (claim.contender.consumer == contender->consumer && (first || claim.virtual_time < least)) {
      least = claim.virtual_time;
      first = false;
    }
  join(contender->consumer);
  claims_.emplace(job, Claim{*contender, 0, least});
  return true;
}

void FairTurns::join(const ConsumerName& consumer) {
  if (virtual_times_.contains(consumer)) return;
  double least = 0;
  if (!virtual_times_.empty()) least = std::ranges::min_element(virtual_times_, {}, [](const auto& entry) { return entry.second; })->second;
  virtual_times_[consumer] = least;
}

void FairTurns::charge(Time now) {
  const double passed = as_seconds(now - std::min(charged_, now));
  for (auto& [job, claim] : claims_) {
    if (claim.lanes == 0) continue;
    const double used = passed * claim.lanes;
    if (!GW_BUG(162)) virtual_times_[claim.contender.consumer] += used / claim.contender.weight;
    claim.virtual_time += used;
    Use& use = use_[job];
    use.home = claim.contender.home;
    use.consumer = claim.contender.consumer;
    use.slot_time += claim.lanes * (now - std::min(charged_, now));
  }
  charged_ = now;
}

void FairTurns::deal(Time now, std::uint32_t slots) {
  charge(now);
  std::uint64_t wanted = 0;
  for (const auto& [job, claim] : claims_) wanted += claim.contender.lanes;
  next_ = wanted <= slots ? kNever : now + config_.turn;
  if (next_ != kNever) {
    GW_REACHED("lending: jobs compete for the slots of a lender");
    return share(slots);
  }
  // While no job waits, the lanes that a job uses count for nothing later.
  for (auto& [job, claim] : claims_) {
    claim.lanes = claim.contender.lanes;
    claim.virtual_time = 0;
  }
  for (auto& [consumer, virtual_time] : virtual_times_) virtual_time = 0;
}

void FairTurns::share(std::uint32_t slots) {
  for (auto& [job, claim] : claims_) claim.lanes = 0;
  std::map<ConsumerName, double> ahead = virtual_times_;  // with the lanes dealt out so far
  std::map<JobId, double> own;
  for (const auto& [job, claim] : claims_) own[job] = claim.virtual_time;
  const double turn = as_seconds(config_.turn);
  for (std::uint32_t left = slots; left > 0;) {
    // A job of lower priority comes after all others of its user, whatever they have used.
    using Order = std::tuple<double, ConsumerName, std::int64_t, double>;
    std::optional<std::pair<Order, std::map<JobId, Claim>::iterator>> next;
    for (auto claim = claims_.begin(); claim != claims_.end(); ++claim) {
      const Contender& contender = claim->second.contender;
      const std::uint32_t unit = claim->second.lanes == 0 ? std::clamp(contender.least, 1u, slots) : 1;
      if (claim->second.lanes >= contender.lanes || unit > left) continue;
      const Order order{ahead[contender.consumer], contender.consumer, -std::int64_t{contender.priority}, own[claim->first]};
      if (!next || order < next->first) next = {order, claim};
    }
    if (!next) break;
    Claim& chosen = next->second->second;
    const std::uint32_t unit = chosen.lanes == 0 ? std::clamp(chosen.contender.least, 1u, slots) : 1;
    chosen.lanes += unit;
    if (!GW_BUG(163)) left -= unit;
    ahead[chosen.contender.consumer] += turn * unit / chosen.contender.weight;
    own[next->second->first] += turn * unit;
  }
}

std::optional<std::uint32_t> FairTurns::lanes(const JobId& job) const {
  const auto found = claims_.find(job);
  return found == claims_.end() ? std::nullopt : std::optional(found->second.lanes);
}

std::uint32_t FairTurns::dealt() const {
  std::uint32_t lanes = 0;
  for (const auto& [job, claim] : claims_) lanes += claim.lanes;
  return lanes;
}

std::map<JobId, FairTurns::Use> FairTurns::take_use(Time now) {
  charge(now);
  return std::exchange(use_, {});
}

}  // namespace gw::job
