#pragma once
// Converts the snapshot of a job into the view of node/control.h.

#include "job/home/job_snapshot.h"
#include "node/control.h"

namespace gw::node {

// `told`: whether the end of the job has been notified. Before that the view says running: the job's record may be ahead of the disk.
enum class EndAnnounced : std::uint8_t { not_yet, over };

// A job that runs, as its record and the number of placed threads tell: without threads and peers, whose number has no bound.
job::JobSnapshot with_counts(wire::pb::JobRecord record, std::uint64_t running);

JobSummary summary_of(const job::JobId& id, const job::JobSnapshot& snapshot, EndAnnounced told);
// Does not fill in the state of the job's peers.
JobView view_of(const job::JobId& id, const job::JobSnapshot& snapshot, EndAnnounced told);

}  // namespace gw::node
