#include "node/jobs/job_views.h"

#include <algorithm>

#include "job/records.h"

namespace gw::node {
namespace {

using job::JobId;
using job::RecordKey;
using job::RecordKind;

Error unknown(const JobId& id) { return fail(Kind::not_found, "there is no job {} at this peer", id.hash.hex()); }

}  // namespace

class JobViews::Watching final : public Subscription {
 public:
  Watching(std::weak_ptr<Watchers> watchers, std::uint64_t number) : watchers_(std::move(watchers)), number_(number) {}
  ~Watching() override {
    if (const auto watchers = watchers_.lock()) watchers->erase(number_);
  }

 private:
  std::weak_ptr<Watchers> watchers_;
  std::uint64_t number_;
};

// --- what is known

std::optional<job::JobSnapshot> JobViews::snapshot_of(const JobId& id) const {
  if (const auto home = peer_.homes().find(id); home != peer_.homes().end()) return home->second->snapshot();
  if (const wire::pb::JobRecord* past = peer_.past().find(id)) return job::snapshot_of(*past);
  return std::nullopt;
}

bool JobViews::over(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found != jobs_.end() && found->second.over();
}

JobHistory* JobViews::history(const JobId& id) {
  if (const auto found = jobs_.find(id); found != jobs_.end()) return &found->second;
  const auto snapshot = snapshot_of(id);
  if (!snapshot) return nullptr;
  return &jobs_.try_emplace(id, snapshot->record.tasks(), first_number_).first->second;
}

Result<const JobHistory*> JobViews::find(const JobId& id) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return unknown(id);
  return &found->second;
}

Status JobViews::recall(const std::map<std::string, std::string>& records, WallTime now) {
  for (const auto& [id, home] : peer_.homes()) history(id);
  for (const auto& [id, record] : peer_.past().all()) history(id);
  const std::string first(1, static_cast<char>(RecordKind::effect));
  for (auto entry = records.lower_bound(first); entry != records.end() && entry->first.starts_with(first); ++entry) {
    GW_TRY(const RecordKey key, RecordKey::decode(entry->first));
    const auto job = jobs_.find(key.job);
    if (job == jobs_.end()) continue;  // dropped in part, and the peer goes on with that
    wire::pb::Effect effect;
    if (!effect.ParseFromString(entry->second)) return fail(Kind::corrupt, "a record of job {} cannot be read", key.job.hash.hex());
    job->second.recall(effect);
  }
  for (auto& [id, job] : jobs_) {
    const auto snapshot = snapshot_of(id);
    for (const job::ThreadSnapshot& thread : snapshot->threads)
      if (thread.state == wire::pb::ThreadRecord::FAILED) job.recall_failed(thread.id);
    if (snapshot->record.state() != wire::pb::JobRecord::RUNNING) job.on_over(now, snapshot->record);
    job.end_turn(now);
  }
  return ok();
}

// --- what happens

void JobViews::on_event(WallTime now, const job::Event& event) {
  std::visit([&](const auto& what) { on(now, what); }, event);
}

void JobViews::on(WallTime now, const job::JobAccepted& accepted) {
  if (jobs_.contains(accepted.job)) return;  // submitted again
  if (JobHistory* job = history(accepted.job)) job->add(now, JobEvent::Accepted{});
  std::erase_if(jobs_, [this](const auto& entry) { return !knows(entry.first); });  // the peer has forgotten old ones
}

void JobViews::on(WallTime now, const job::EffectStored& stored) {
  if (JobHistory* job = history(stored.job)) job->on_effect(now, stored.effect);
}

void JobViews::on(WallTime now, const job::ThreadPlaced& placed) {
  if (JobHistory* job = history(placed.job)) job->add(now, JobEvent::ThreadPlaced{placed.thread, placed.host});
}

void JobViews::on(WallTime now, const job::ThreadResumed& resumed) {
  if (JobHistory* job = history(resumed.job)) job->add(now, JobEvent::ThreadResumed{resumed.thread, resumed.epoch, resumed.host});
}

void JobViews::on(WallTime now, const job::ThreadRestarted& again) {
  if (JobHistory* job = history(again.job)) job->add(now, JobEvent::ThreadRestarted{again.thread, again.epoch, again.host});
}

void JobViews::on(WallTime now, const job::HostLost& lost) {
  if (JobHistory* job = history(lost.job)) job->add(now, JobEvent::PeerLost{lost.peer, lost.threads});
}

void JobViews::on(WallTime now, const job::ThreadFailed& failed) {
  if (JobHistory* job = history(failed.job)) job->on_failed(now, failed);
}

void JobViews::on(WallTime now, const job::JobOver& over) {
  const auto snapshot = snapshot_of(over.job);
  if (snapshot) history(over.job)->on_over(now, snapshot->record);
}

bool JobViews::end_turn(WallTime now) {
  bool due = false;
  for (auto& [id, job] : jobs_) {
    if (!job.end_turn(now)) continue;
    for (auto& [number, watcher] : *watchers_)
      if (watcher.job == id) due = watcher.due = true;
  }
  return due;
}

void JobViews::wake() {
  std::vector<std::uint64_t> numbers;
  for (auto& [number, watcher] : *watchers_)
    if (std::exchange(watcher.due, false)) numbers.push_back(number);
  for (const std::uint64_t number : numbers) {
    const auto found = watchers_->find(number);  // the one before may have ended it
    if (found == watchers_->end()) continue;
    const auto changed = found->second.changed;
    changed();
  }
}

Result<std::unique_ptr<Subscription>> JobViews::watch(const JobId& id, std::function<void()> changed) {
  GW_TRY_VOID(find(id));
  if (watchers_->size() >= kMaxWatchers) return fail(Kind::overloaded, "{} watch jobs here already: try again later", watchers_->size());
  watchers_->emplace(++next_watcher_, Watcher{id, std::move(changed)});
  return std::unique_ptr<Subscription>(std::make_unique<Watching>(watchers_, next_watcher_));
}

// --- what is shown

std::vector<JobSummary> JobViews::summaries() const {
  std::vector<JobSummary> out;
  for (const auto& [id, job] : jobs_)
    if (const auto snapshot = snapshot_of(id))
      out.push_back(summary_of(id, *snapshot, job.over() ? EndAnnounced::over : EndAnnounced::not_yet));
  std::ranges::sort(out, std::greater(), [](const JobSummary& job) { return std::pair(job.submitted_at, job.id); });
  return out;
}

Result<JobView> JobViews::view(const JobId& id) const {
  GW_TRY(const JobHistory* job, find(id));
  const auto snapshot = snapshot_of(id);
  if (!snapshot) return unknown(id);
  return view_of(id, *snapshot, job->over() ? EndAnnounced::over : EndAnnounced::not_yet);
}

Result<std::vector<JobEvent>> JobViews::events(const JobId& id, std::uint64_t from, std::size_t limit) const {
  GW_TRY(const JobHistory* job, find(id));
  return job->events(from, limit);
}

Result<OutputIndex::Plan> JobViews::output(const JobId& id, Stream stream, std::uint64_t offset, std::uint64_t limit) const {
  GW_TRY(const JobHistory* job, find(id));
  return job->output().plan(stream, offset, limit);
}

}  // namespace gw::node
