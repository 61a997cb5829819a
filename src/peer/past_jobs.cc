#include "peer/past_jobs.h"

#include "job/records.h"

namespace gw::peer {

using job::RecordKey;
using job::RecordKind;

void PastJobs::add(const job::JobId& id, wire::pb::JobRecord record, job::Actions& out) {
  by_end_.emplace(record.ended_at_ns(), id);
  bytes_ += record.stored_bytes();
  jobs_[id] = std::move(record);
  while (jobs_.size() > 1 && (jobs_.size() > config_.jobs || bytes_ > config_.bytes)) forget(by_end_.begin()->second, out);
}

void PastJobs::forget(job::JobId id, job::Actions& out) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  by_end_.erase({found->second.ended_at_ns(), id});
  bytes_ -= found->second.stored_bytes();
  jobs_.erase(found);
  // The job's own record last: after a crash in between the job is still found and can be dropped again.
  for (const RecordKind kind : {RecordKind::thread, RecordKind::counters, RecordKind::input, RecordKind::mail, RecordKind::mail_mark,
                                RecordKind::watch, RecordKind::task_file, RecordKind::job})
    out.add(job::DropRecords{RecordKey{.kind = kind, .job = id}.prefix()});
  out.add(job::DropOutput{id});
}

void PastJobs::on_tick(job::Time since_1970, job::Actions& out) {
  while (!by_end_.empty() && next_deadline() <= since_1970) forget(job::JobId(by_end_.begin()->second), out);
}

job::Time PastJobs::next_deadline() const {
  if (by_end_.empty()) return job::kNever;
  return job::Time(static_cast<std::int64_t>(by_end_.begin()->first)) + config_.age;
}

const wire::pb::JobRecord* PastJobs::find(const job::JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

job::JobCourse PastJobs::course_of(const job::JobId& id) const {
  const wire::pb::JobRecord* record = find(id);
  if (record == nullptr) return job::JobCourse::unknown;
  const bool well = record->state() == wire::pb::JobRecord::DONE && record->failed() == 0 && record->exit_code() == 0;
  return well ? job::JobCourse::ended_well : job::JobCourse::ended_badly;
}

}  // namespace gw::peer
