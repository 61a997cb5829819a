#pragma once
// Converts the snapshot of a job into the view of node/control.h.

#include "job/home/job_snapshot.h"
#include "node/control.h"

namespace gw::node {

// `told`: whether the end of the job has been notified. Before that the view says running: the job's record may be ahead of the disk.
enum class EndAnnounced : std::uint8_t { not_yet, over };

// Of the threads of a job.
struct ThreadCounts {
  std::uint64_t waiting = 0;
  std::uint64_t running = 0;
};
// The counts of a job that runs, as its record and the number of placed threads tell.
ThreadCounts counts_of(const wire::pb::JobRecord& record, std::uint64_t running);

// Copies nothing of the record but what users see: a list has a summary of each of thousands of jobs.
JobSummary summary_of(const job::JobId& id, const wire::pb::JobRecord& record, const ThreadCounts& counts, EndAnnounced told);
// Does not fill in the state of the job's peers.
JobView view_of(const job::JobId& id, const job::JobSnapshot& snapshot, EndAnnounced told);

}  // namespace gw::node
