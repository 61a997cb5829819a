#pragma once
// Which worker belongs to which hosted job.

#include <map>
#include <optional>

#include "job/actions.h"

namespace gw::peer {

// Frames come often, so the job of a worker is not searched for among all. Costs: O(log workers). Limit: one worker for each hosted job. A
// value without threads.
class WorkerJobs {
 public:
  // The worker of the job is this one from now on; none: it has none.
  void set(const job::JobId& job, const std::optional<job::WorkerId>& worker) {
    const auto known = workers_.find(job);
    if (known != workers_.end() && worker == known->second) return;
    if (known != workers_.end()) {
      jobs_.erase(known->second);
      workers_.erase(known);
    }
    if (!worker) return;
    jobs_[*worker] = job;
    workers_[job] = *worker;
  }
  // nullptr: the worker was killed meanwhile.
  const job::JobId* job_of(job::WorkerId worker) const {
    const auto found = jobs_.find(worker);
    return found == jobs_.end() ? nullptr : &found->second;
  }

 private:
  std::map<job::WorkerId, job::JobId> jobs_;
  std::map<job::JobId, job::WorkerId> workers_;
};

}  // namespace gw::peer
