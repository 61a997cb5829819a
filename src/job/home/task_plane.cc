#include "job/home/task_plane.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {

std::uint32_t TaskPlane::free_slots(const Claim& claim) {
  const std::size_t limit = std::min<std::size_t>(claim.slots, claim.max_threads);
  return static_cast<std::uint32_t>(limit - std::min(limit, claim.busy()));
}

Send TaskPlane::to_host(const PeerId& host, JobMessage message) const {
  message.mutable_task_batch()->set_session(environment_.session);
  return to_peer(host, environment_.job, std::move(message));
}

bool TaskPlane::on_report(const PeerId& host, const JobMessage::TaskReport& report) {
  return report.session() == environment_.session && claims_.find(host)->tasks.on_report(report);
}

Send TaskPlane::acknowledgement(const PeerId& host) const {
  const Claim& claim = *claims_.find(host);
  return to_host(host, reports_stored_message(claim.claim, claim.tasks.reports()));
}

// A task that failed at the only host there is runs there again.
void TaskPlane::feed(Time now, const PeerId& host, Actions& out, TaskTable::SameHost same_host) {
  Claim* claim = claims_.find(host);
  if (claim == nullptr || table_.waiting() == 0) return;
  const std::uint64_t share = (table_.waiting() * claim->slots + claims_.slots() - 1) / std::max<std::uint64_t>(1, claims_.slots());
  for (std::uint32_t wanted = claim->tasks.wanted(config_.lease, free_slots(*claim), share); wanted > 0;) {
    const std::optional<TaskSpan> span = table_.lease(wanted, host, claims_.size() == 1 ? TaskTable::SameHost::yes : same_host);
    if (!span) return;
    wanted -= span->count;
    out.add(to_host(host, claim->tasks.give(now, config_.lease, claim->claim, *span)));
  }
}

void TaskPlane::feed_all(Time now, Actions& out) {
  for (const auto& [host, claim] : claims_.all()) {
    if (table_.waiting() == 0) return;
    feed(now, host, out);
  }
}

void TaskPlane::on_tick(Time now, Actions& out) {
  if (table_.size() == 0) return;
  for (auto& [host, claim] : claims_.all()) {
    for (JobMessage& message : claim.tasks.resend(now, config_.lease)) {
      GW_REACHED("home: a batch of tasks was repeated");
      out.add(to_host(host, std::move(message)));
    }
  }
  feed_all(now, out);
  // A task that waits for another host than the one where it failed has waited for a tick: any idle host may have it.
  for (const auto& [host, claim] : claims_.all())
    if (table_.waiting() > 0 && claim.tasks.held().empty()) feed(now, host, out, TaskTable::SameHost::yes);
  if (table_.waiting() == 0 && table_.leased() > 0) lease_again(now, out);
}

// Takes tasks from the end of what the slowest host holds: it comes to them last. A host that is idle now could not help earlier.
void TaskPlane::lease_again(Time now, Actions& out) {
  for (auto& [host, claim] : claims_.all()) {
    if (!claim.tasks.held().empty() || free_slots(claim) == 0) continue;
    Claim* slowest = nullptr;
    double longest = 0;
    for (auto& [other, candidate] : claims_.all()) {
      if (other == host || candidate.tasks.held().empty()) continue;
      const double rate = std::max(candidate.tasks.rate(), 1e-9);
      const double left = static_cast<double>(candidate.tasks.held().size()) / rate;
      if (left <= longest) continue;
      slowest = &candidate;
      longest = left;
    }
    if (slowest == nullptr) return;
    TaskSet once;
    for (const TaskSpan& span : slowest->tasks.held().spans()) once.add(span);
    for (const TaskSpan& span : twice_.spans()) once.remove(span);
    const std::optional<TaskSpan> span = once.last(std::size_t{config_.second_leases} * free_slots(claim));
    if (!span) continue;
    GW_REACHED("home: tasks were leased a second time");
    twice_.add(*span);
    out.add(to_host(host, claim.tasks.give(now, config_.lease, claim.claim, *span)));
  }
}

bool TaskPlane::held_elsewhere(const PeerId& host, std::uint32_t task) const {
  if (!twice_.contains(task)) return false;
  return std::ranges::any_of(claims_.all(), [&](const auto& entry) { return entry.first != host && entry.second.tasks.holds(task); });
}

bool TaskPlane::take(const PeerId& host, std::uint32_t task) {
  Claim* claim = claims_.find(host);
  if (claim == nullptr || task >= table_.size() || !claim->tasks.remove(task)) return false;
  if (!twice_.remove(task)) return true;
  GW_REACHED("home: one of two hosts has a result of a task");
  for (auto& [other, candidate] : claims_.all()) candidate.tasks.remove(task);
  return true;
}

void TaskPlane::lose(const PeerId& host) {
  Claim* claim = claims_.find(host);
  if (claim == nullptr || GW_BUG(62)) return;
  for (const TaskSpan& span : claim->tasks.held().spans())
    for (std::uint32_t i = 0; i < span.count; ++i) give_back(host, span.first + i);
}

bool TaskPlane::give_back(const PeerId& host, std::uint32_t task) {
  Claim* claim = claims_.find(host);
  if (claim == nullptr || !claim->tasks.remove(task)) return false;
  const bool elsewhere = held_elsewhere(host, task);
  twice_.remove(task);
  if (!elsewhere) table_.wait(task);
  return true;
}

void TaskPlane::recall_all(Time now, Actions& out) {
  if (table_.size() == 0) return;
  for (auto& [host, claim] : claims_.all()) {
    if (claim.tasks.held().empty()) continue;
    GW_REACHED("home: tasks were recalled");
    lose(host);
    out.add(to_host(host, claim.tasks.recall(now, config_.lease, claim.claim)));
  }
}

}  // namespace gw::job
