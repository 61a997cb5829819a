#pragma once
// How a job stands, in the words of node/control.h.

#include "job/job_snapshot.h"
#include "node/control.h"

namespace gw::node {

// `told`: whether the end of the job has been told. Before that it runs, whatever its record says, which is ahead of the disk.
enum class EndAnnounced : std::uint8_t { not_yet, over };

JobSummary summary_of(const job::JobId& id, const job::JobSnapshot& snapshot, EndAnnounced told);
// The state of its peers is not known here.
JobView view_of(const job::JobId& id, const job::JobSnapshot& snapshot, EndAnnounced told);

}  // namespace gw::node
