#pragma once
// The reports of hosts about tasks, at the job's home.

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "job/actions.h"
#include "job/authority/manifest.h"
#include "job/home/output_limit.h"
#include "job/home/placement.h"
#include "job/home/recovery_counters.h"
#include "job/home/task_flow.h"
#include "job/home/task_plane.h"

namespace gw::job {

// Takes the reports of hosts: stores the results of their tasks, gives back what they do not run, and counts the deaths of workers against
// the tasks that ran in them. The effects of a task become those of its thread: views and readers of the output need not know how it ran.
//
// A task that fails runs again if the policy of the job says so; the effects of the failed run are not kept, its end is.
//
// Invariant: a result is stored once, in one batch with the record of its failure if it is one. Costs: O(tasks named). Limits: those of a
// message and of OutputLimit. A machine without I/O or threads: its Home owns and drives it.
class TaskReports {
 public:
  struct Environment {  // outlives it
    JobId job;
    Time wall_offset;  // from Time to nanoseconds since 1970
    const Manifest& manifest;
    TaskPlane& plane;
    TaskFlow& flow;
    TaskFiles& files;
    ClaimTable& claims;
    Placement& placement;
    RecoveryCounters& counters;
    const OutputLimit& output;
    std::function<void(EffectEntry entry, Actions& out)> append;  // to the output of the job
  };

  explicit TaskReports(const Environment& environment) : environment_(environment) {}

  struct Taken {
    std::vector<std::uint32_t> promoted;  // tasks that are to become threads of this host
    bool refused = false;                 // the host cannot run tasks now
    bool came_back = false;               // tasks wait again
  };
  // Home has lost the blob, and no peer of the job has it; or it is here again. While one is lost, hosts are not to blame for lost tasks,
  // and a task is not repeated often.
  void on_blob_lost(const Hash256& hash) { lost_blobs_.insert(hash); }
  void on_blob_stored(const Hash256& hash) { lost_blobs_.erase(hash); }
  bool lacks_blobs() const { return !lost_blobs_.empty(); }
  // REQUIRES: the report is the next one of the claim of its sender.
  Taken take(Time now, const PeerId& from, const TaskLease::Config& lease, const JobMessage::TaskReport& report, Actions& out);

 private:
  void take_result(Time now, const PeerId& from, const wire::pb::TaskResult& result, Actions& out);
  void lose_task(Time now, const PeerId& from, std::uint32_t task, const std::string& failure, Actions& out);
  void store_end(const Effect& effect, const EndFacts& facts, Actions& out);
  // Whether the task that has come to this end runs again; then that is recorded.
  bool run_again(std::uint32_t task, const Effect& end, const EndFacts& facts, Actions& out);
  Time believable(Time now, const PeerId& from, std::uint64_t run_time_ns) const;
  EndFacts facts_of(Time now, const PeerId& from, std::uint32_t task, Time run_time) const;
  void end_task(const PeerId& from, std::uint32_t task, const Effect::End& end, Actions& out);

  const Environment environment_;
  std::set<Hash256> lost_blobs_;  // of the job's
};

}  // namespace gw::job
