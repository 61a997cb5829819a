#include "peer/past_jobs.h"

#include "job/records.h"

namespace gw::peer {

using job::RecordKey;
using job::RecordKind;

void PastJobs::add(const job::JobId& id, wire::pb::JobRecord record, job::Actions& out) {
  by_end_.emplace(record.ended_at_ns(), id);
  jobs_[id] = std::move(record);
  while (jobs_.size() > config_.jobs) {
    const job::JobId oldest = by_end_.begin()->second;
    by_end_.erase(by_end_.begin());
    jobs_.erase(oldest);
    // The job itself last: a crash in between leaves something that can be found and dropped again.
    for (const RecordKind kind : {RecordKind::thread, RecordKind::counters, RecordKind::job})
      out.add(job::DropRecords{RecordKey{.kind = kind, .job = oldest}.prefix()});
    out.add(job::DropOutput{oldest});
  }
}

const wire::pb::JobRecord* PastJobs::find(const job::JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

}  // namespace gw::peer
