#include "peer/lender.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/reached.h"

namespace gw::peer {

job::LendingAsker Lender::asker_of(const PeerId& home, const job::Charter& charter) const {
  job::LendingAsker asker{.home = home, .submitter = charter.submitter()};
  const Grid* grid = charter.grid() ? machines_.grids.find(*charter.grid()) : nullptr;
  if (grid != nullptr) {
    asker.grid = grid->credentials.name;
    asker.private_grid = grid->credentials.is_private();
  }
  return asker;
}

std::variant<job::SlotLeases::Wanted, Refusal> Lender::terms(Time now, const job::Charter& charter, const job::JobMessage::Query& query) {
  using Decline = job::JobMessage::Decline;
  if (auto why = lending_.refusal(asker_of(charter.first_home(), charter)))
    return Refusal{lending_.workers_fail().empty() ? Decline::RULES : Decline::WORKERS_FAIL, *std::move(why)};
  if (auto why = job::misfit(query.needs(), capacity_)) return Refusal{Decline::NEEDS, *std::move(why)};
  return job::SlotLeases::Wanted{.home = charter.first_home(),
                                 .job = charter.id(),
                                 .slots = query.slots(),
                                 .consumer = charter.submitter(),
                                 .weight = lending_.weight_of(charter.submitter()),
                                 .priority = query.priority(),
                                 .submitted = ages_.believed(now + self_.wall_offset, charter.first_home(), charter.id(),
                                                             Time(static_cast<std::int64_t>(query.submitted_at_ns()))),
                                 .held = query.held()};
}

Refusal Lender::who_holds_slots(const job::SlotLeases::Wanted& wanted) const {
  using Decline = job::JobMessage::Decline;
  const auto& grants = machines_.slots.grants();
  if (machines_.slots.slots() == 0) return {Decline::RULES, "it lends no cores"};
  const auto own = std::ranges::find_if(grants, [&](const auto& entry) { return entry.second.consumer == wanted.consumer; });
  const auto other = std::ranges::find_if(grants, [&](const auto& entry) { return entry.second.consumer != wanted.consumer; });
  const auto how = [](const auto& entry) { return entry->second.held ? "held for the older" : "taken by"; };
  if (own != grants.end())
    return {Decline::BUSY, fmt::format("its {} slots are {} job {} of the same user{}", machines_.slots.slots(), how(own),
                                       own->first.brief(), other == grants.end() ? "" : " and by other users")};
  if (other != grants.end())
    return {Decline::BUSY, fmt::format("its {} slots are {} job {} of user {}", machines_.slots.slots(), how(other), other->first.brief(),
                                       other->second.consumer.hex().substr(0, 8))};
  return {Decline::BUSY, "jobs of this peer have held slots and not used them: it has to wait"};
}

std::optional<std::string> Lender::excess(const JobId& job, const job::Manifest& manifest) const {
  const job::SlotLeases::Grant* grant = machines_.slots.find(job);
  const job::Authority* authority = machines_.authorities.find(job);
  if (grant == nullptr || authority == nullptr) return std::nullopt;
  return lending_.excess(asker_of(grant->home, authority->charter()), manifest);
}

std::vector<JobId> Lender::refused_jobs() const {
  std::vector<JobId> refused;
  for (const auto& [job, grant] : machines_.slots.grants()) {
    const job::Authority* authority = machines_.authorities.find(job);
    if (authority != nullptr && lending_.refusal(asker_of(grant.home, authority->charter()))) refused.push_back(job);
  }
  if (!refused.empty()) GW_REACHED("lending: jobs have to leave by the owner's rules");
  return refused;
}

std::vector<JobId> Lender::set_rules(Time now, job::LendingRules rules, Time idle_after) {
  lending_.set_rules(std::move(rules), idle_after);
  machines_.slots.set_weights([this](const job::ConsumerName& user) { return lending_.weight_of(user); });
  for (const auto& [job, hosted_job] : machines_.hosted_jobs) refresh(now, job);
  changed_ = true;  // the number of slots may be another
  return refused_jobs();
}

std::vector<JobId> Lender::set_conditions(const job::LendingConditions& conditions) {
  lending_.set_conditions(conditions);
  return refused_jobs();
}

std::uint32_t Lender::announced_slots() const { return lending_.closed_by_owner() ? 0 : machines_.slots.free_slots(); }

void Lender::refresh(Time now, const JobId& job) {
  const auto hosted_job = machines_.hosted_jobs.find(job);
  const job::SlotLeases::Grant* grant = machines_.slots.find(job);
  std::optional<job::FairTurns::Contender> contender;
  if (hosted_job != machines_.hosted_jobs.end() && grant != nullptr)
    if (const auto demand = hosted_job->second->demand())
      contender = {.home = grant->home,
                   .consumer = grant->consumer,
                   .weight = grant->weight,
                   .priority = grant->priority,
                   .lanes = demand->lanes,
                   .least = demand->least};
  changed_ = turns_.set(now, job, contender) || changed_;
}

void Lender::on_message(Time now, const PeerId& peer, const job::JobMessage& message) {
  if (!message.has_blob() || peer == self_.id) return;
  const JobId job = JobId::from(message.job());
  const std::uint64_t bytes = message.blob().bytes().size();
  const job::Authority* authority = machines_.authorities.find(job);
  const Time wall = now + self_.wall_offset;
  if (machines_.homes.contains(job)) {
    balance_.use_bytes(peer, bytes, wall);
  } else if (authority != nullptr && authority->leader() != self_.id) {
    balance_.give_bytes({authority->leader(), authority->charter().submitter()}, bytes, wall);
  }
}

void Lender::on_tick(Time now, job::Actions& out) {
  if (now >= sample_at_) {
    sample(now);
    sample_at_ = job::kNever;  // deal() sets the next one, if there is something to sample
  }
  balance_.record(now, out);
}

// Slots of this peer for its own jobs are no part of the balance.
void Lender::sample(Time now) {
  const Time wall = now + self_.wall_offset;
  for (const auto& [job, use] : turns_.take_use(now))
    if (use.home != self_.id && use.slot_time > Time(0)) balance_.give({use.home, use.consumer}, use.slot_time, wall);
  for (const auto& [job, home] : machines_.homes)
    for (const auto& [peer, claim] : home->claims().all()) {
      const std::uint64_t busy = std::min<std::uint64_t>(claim.slots, claim.threads.size() + claim.tasks.held().size());
      if (peer != self_.id && busy > 0) balance_.use(peer, busy * (now - sampled_), wall);
    }
}

void Lender::deal(Time now, job::Actions& out) {
  if (sample_at_ == job::kNever && !(machines_.hosted_jobs.empty() && machines_.homes.empty() && turns_.unsampled() == 0)) {
    sampled_ = now;
    sample_at_ = now + config_.sample_every;
  }
  if (!changed_ && now < turns_.next()) return;
  changed_ = false;
  turns_.deal(now, machines_.slots.slots());
  const bool compete = turns_.next() != job::kNever;
  for (const auto& [id, hosted_job] : machines_.hosted_jobs) {
    if (hosted_job->draining()) continue;
    // A job without work begins with one lane, if others wait: it gets its part with the turn in which its work comes.
    const std::uint32_t free = compete ? 1 : hosted_job->claim().slots;
    hosted_job->set_lanes(now, compete ? turns_.lanes(id).value_or(free) : free, out);
  }
}

}  // namespace gw::peer
