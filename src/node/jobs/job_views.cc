#include "node/jobs/job_views.h"

#include <algorithm>
#include <utility>

namespace gw::node {
namespace {

using job::JobId;

Error unknown(const JobId& id) { return fail(Kind::not_found, "there is no job {} at this peer", id.hash.hex()); }

}  // namespace

// --- lookup

std::optional<job::JobSnapshot> JobViews::snapshot_of(const JobId& id) const {
  if (const auto home = peer_.homes().find(id); home != peer_.homes().end()) return home->second->snapshot();
  if (const wire::pb::JobRecord* past = peer_.past().find(id)) return job::snapshot_of(*past);
  return std::nullopt;
}

bool JobViews::over(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? peer_.past().find(id) != nullptr : found->second.over();
}

JobHistory* JobViews::history(const JobId& id) {
  if (const auto found = jobs_.find(id); found != jobs_.end()) return &found->second;
  if (const auto home = peer_.homes().find(id); home != peer_.homes().end()) {
    const job::Manifest& manifest = home->second->manifest();
    using Unfinished = OutputProgress::Unfinished;
    const bool repeats = manifest.content().policy().retries() > 0;
    OutputProgress output(manifest.tasks(), manifest.selected(), repeats ? Unfinished::may_be_void : Unfinished::final);
    return &jobs_.try_emplace(id, manifest.tasks(), std::move(output), first_number_).first->second;
  }
  const wire::pb::JobRecord* const past = peer_.past().find(id);
  return past == nullptr ? nullptr : &jobs_.try_emplace(id, past->tasks(), OutputProgress(past->tasks()), first_number_).first->second;
}

JobHistory* JobViews::touch(const JobId& id) {
  JobHistory* const found = history(id);
  if (found != nullptr) touched_.insert(id);
  return found;
}

// A job that was over before this boot, or whose history was forgotten, has one event: Over.
Result<JobHistory*> JobViews::find(const JobId& id) {
  if (const auto found = jobs_.find(id); found != jobs_.end()) return &found->second;
  const wire::pb::JobRecord* const past = peer_.past().find(id);
  if (past == nullptr) return unknown(id);
  JobHistory& history = jobs_.try_emplace(id, past->tasks(), OutputProgress(past->tasks()), first_number_).first->second;
  history.on_over(std::chrono::system_clock::now(), *past);
  (void)history.end_turn(std::chrono::system_clock::now(), totals_of(id));
  past_.push_back(id);
  forget_old();
  return &history;
}

JobHistory::Totals JobViews::totals_of(const JobId& id) const {
  if (const auto home = peer_.homes().find(id); home != peer_.homes().end())
    return {home->second->ended(), home->second->failed(), home->second->running(), home->second->hosts()};
  const wire::pb::JobRecord* const past = peer_.past().find(id);
  return past == nullptr ? JobHistory::Totals() : JobHistory::Totals{.ended = past->ended(), .failed = past->failed()};
}

void JobViews::forget(const JobId& id) {
  jobs_.erase(id);
  std::erase(past_, id);
}

void JobViews::forget_old() {
  for (; past_.size() > kMaxPast; past_.pop_front()) jobs_.erase(past_.front());
}

void JobViews::recall(const peer::Stored& stored, WallTime now) {
  for (const auto& [id, home] : peer_.homes()) {
    JobHistory& job = *history(id);
    if (const auto effects = stored.effects(id))
      for (const job::StoredEffect& effect : *effects) job.recall(effect);
    for (const ThreadView& thread : home->snapshot().threads)
      if (thread.state == ThreadView::State::failed) job.recall_failed(thread.id);
    job.recall_skipped(home->skipped_tasks().spans());
    job.end_turn(now, totals_of(id));
  }
}

// --- events

void JobViews::on_event(WallTime now, const job::Event& event) {
  std::visit([&](const auto& what) { on(now, what); }, event);
}

void JobViews::on(WallTime now, const job::JobAccepted& accepted) {
  if (jobs_.contains(accepted.job) || peer_.past().find(accepted.job) != nullptr) return;  // submitted again
  if (JobHistory* job = touch(accepted.job)) job->add(now, JobEvent::Accepted{});
}

void JobViews::on(WallTime now, const job::EffectStored& stored) {
  if (JobHistory* job = touch(stored.job)) job->on_effect(now, stored.effect);
}

void JobViews::on(WallTime now, const job::InputWanted& wanted) {
  if (JobHistory* job = touch(wanted.job)) job->add(now, JobEvent::InputWanted{wanted.piece});
}

void JobViews::on(WallTime now, const job::JobSuspended& suspended) {
  if (JobHistory* job = touch(suspended.job)) job->add(now, JobEvent::Suspended{});
}

void JobViews::on(WallTime now, const job::JobResumed& resumed) {
  if (JobHistory* job = touch(resumed.job)) job->add(now, JobEvent::Resumed{});
}

void JobViews::on(WallTime now, const job::ThreadPlaced& placed) {
  if (JobHistory* job = touch(placed.job)) job->add(now, JobEvent::ThreadPlaced{placed.thread, placed.host});
}

void JobViews::on(WallTime now, const job::ThreadResumed& resumed) {
  if (JobHistory* job = touch(resumed.job)) job->add(now, JobEvent::ThreadResumed{resumed.thread, resumed.epoch, resumed.host});
}

void JobViews::on(WallTime now, const job::ThreadRestarted& again) {
  if (JobHistory* job = touch(again.job)) job->add(now, JobEvent::ThreadRestarted{again.thread, again.epoch, again.host});
}

void JobViews::on(WallTime now, const job::HostLost& lost) {
  if (JobHistory* job = touch(lost.job)) job->add(now, JobEvent::PeerLost{lost.peer, lost.threads});
}

void JobViews::on(WallTime now, const job::RunRepeated& repeated) {
  if (JobHistory* job = touch(repeated.job)) job->on_repeated(now, repeated);
}

void JobViews::on(WallTime now, const job::TasksSkipped& skipped) {
  const auto home = peer_.homes().find(skipped.job);
  const wire::pb::JobRecord* const past = peer_.past().find(skipped.job);
  const std::uint64_t total = home != peer_.homes().end() ? home->second->skipped_tasks().size() : past != nullptr ? past->skipped() : 0;
  if (JobHistory* job = touch(skipped.job)) job->on_skipped(now, skipped, total);
}

void JobViews::on(WallTime now, const job::ThreadFailed& failed) {
  if (JobHistory* job = touch(failed.job)) job->on_failed(now, failed);
}

void JobViews::on(WallTime now, const job::JobOver& over) {
  if (const auto home = peer_.homes().find(over.job); home != peer_.homes().end()) {
    touch(over.job)->on_over(now, home->second->record());
  } else if (const wire::pb::JobRecord* past = peer_.past().find(over.job)) {
    touch(over.job)->on_over(now, *past);
  } else {
    return;
  }
  past_.push_back(over.job);
  forget_old();
}

bool JobViews::end_turn(WallTime now) {
  bool due = false;
  for (const JobId& id : std::exchange(touched_, {})) {
    const auto found = jobs_.find(id);  // forgotten in the same turn
    if (found != jobs_.end() && found->second.end_turn(now, totals_of(id))) due = watchers_.note_change(id) || due;
  }
  return due;
}

Result<std::unique_ptr<Subscription>> JobViews::watch(const JobId& id, std::function<void()> changed) {
  GW_TRY_VOID(find(id));
  return watchers_.add(id, std::move(changed));
}

// --- views

std::vector<JobSummary> JobViews::summaries() const {
  std::vector<JobSummary> out;
  const auto add = [&](const JobId& id) {
    if (auto known = summary(id)) out.push_back(*std::move(known));
  };
  for (const auto& [id, home] : peer_.homes()) add(id);
  for (const auto& [id, record] : peer_.past().all()) add(id);
  std::ranges::sort(out, std::greater(), [](const JobSummary& job) { return std::pair(job.submitted_at, job.id); });
  return out;
}

Result<JobSummary> JobViews::summary(const JobId& id) const {
  const EndAnnounced told = over(id) ? EndAnnounced::over : EndAnnounced::not_yet;
  JobSummary summary;
  if (const auto home = peer_.homes().find(id); home != peer_.homes().end()) {
    const wire::pb::JobRecord record = home->second->record();
    summary = summary_of(id, record, counts_of(record, home->second->running()), told);
  } else if (const wire::pb::JobRecord* past = peer_.past().find(id)) {
    summary = summary_of(id, *past, {}, told);
  } else {
    return unknown(id);
  }
  summary.next_event = next_event(id);
  return summary;
}

std::uint64_t JobViews::next_event(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? 0 : found->second.next_number();
}

JobView JobViews::past_view(const JobId& id, const wire::pb::JobRecord& details) {
  return view_of(id, job::snapshot_of(details), EndAnnounced::over);
}

std::uint32_t JobViews::details_bytes(const JobId& id) const {
  const wire::pb::JobRecord* const past = peer_.past().find(id);
  return past == nullptr || !over(id) ? 0 : past->details_bytes();
}

Result<JobView> JobViews::view(const JobId& id) const {
  const auto snapshot = snapshot_of(id);
  if (!snapshot) return unknown(id);
  JobView view = view_of(id, *snapshot, over(id) ? EndAnnounced::over : EndAnnounced::not_yet);
  view.summary.next_event = next_event(id);
  return view;
}

Result<std::vector<JobEvent>> JobViews::events(const JobId& id, std::uint64_t from, std::size_t limit) {
  GW_TRY(const JobHistory* job, find(id));
  return job->events(from, limit);
}

Result<TaskReader::Source> JobViews::source(const JobId& id) const {
  const auto home = peer_.homes().find(id);
  const wire::pb::JobRecord* const past = peer_.past().find(id);
  if (home == peer_.homes().end() && past == nullptr) return unknown(id);
  return TaskReader::Source{.job = id, .tasks = past == nullptr ? home->second->tasks() : past->tasks(), .over = over(id)};
}

Result<job::TaskPage> JobViews::tasks(const JobId& id, const job::TaskQuery& query) const {
  const auto home = peer_.homes().find(id);
  if (home == peer_.homes().end()) return unknown(id);
  return home->second->list_tasks(query);
}

const job::Manifest* JobViews::manifest(const JobId& id) const {
  const auto home = peer_.homes().find(id);
  return home == peer_.homes().end() ? nullptr : &home->second->manifest();
}

Result<OutputReader::Request> JobViews::output(const JobId& id, Stream stream, std::uint64_t offset, std::uint64_t limit) const {
  const auto home = peer_.homes().find(id);
  const wire::pb::JobRecord* const past = peer_.past().find(id);
  if (home == peer_.homes().end() && past == nullptr) return unknown(id);
  const auto found = jobs_.find(id);
  return OutputReader::Request{.job = id,
                               .stream = stream,
                               .offset = offset,
                               .limit = limit,
                               .final_size = found == jobs_.end() ? 0 : found->second.output().final_size(stream),
                               .over = over(id)};
}

}  // namespace gw::node
