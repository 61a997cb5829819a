#pragma once
// The views of the jobs whose home this peer is.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/control.h"
#include "node/jobs/build_job_view.h"
#include "node/jobs/job_history.h"
#include "node/jobs/job_watchers.h"
#include "node/jobs/output_reader.h"
#include "node/jobs/task_reader.h"
#include "peer/peer.h"

namespace gw::node {

// Follows the peer's notices about its jobs and answers users' questions about them. Reads the peer, never changes it.
//
// Costs: the end of a turn costs the jobs that had events in it and their watchers; summaries and over() do not grow with the threads of a
// job. Belongs to the node thread. Limits: a history for each running job and for kMaxPast that are over; other jobs that are over have
// only their Over event; those of JobWatchers.
class JobViews {
 public:
  static constexpr std::size_t kMaxPast = 64;

  // REQUIRES: the peer outlives this object.
  JobViews(const peer::Peer& peer, std::uint64_t boot) : peer_(peer), first_number_((boot << 32) + 1) {}

  // Called after the peer has started: reads the progress of running jobs. Jobs that are over are read only when a user asks for them.
  void recall(const peer::Stored& stored, WallTime now);

  void on_event(WallTime now, const job::Event& event);
  // Ends a turn. True if a watcher has to be called.
  bool end_turn(WallTime now);
  void wake() { watchers_.wake(); }

  // The peer has forgotten the job.
  void forget(const job::JobId& id);

  bool knows(const job::JobId& id) const { return peer_.homes().contains(id) || peer_.past().find(id) != nullptr; }
  bool over(const job::JobId& id) const;
  std::vector<JobSummary> summaries() const;
  Result<JobSummary> summary(const job::JobId& id) const;
  // The view of a job that is over has no threads and peers: they are in its details, on disk.
  Result<JobView> view(const job::JobId& id) const;
  static JobView past_view(const job::JobId& id, const wire::pb::JobRecord& details);
  // The size of the details of a job that is over; 0: they are not on disk, or the job runs.
  std::uint32_t details_bytes(const job::JobId& id) const;
  Result<std::vector<JobEvent>> events(const job::JobId& id, std::uint64_t from, std::size_t limit);
  // The request for the reader, without the durable end of the output.
  Result<OutputReader::Request> output(const job::JobId& id, Stream stream, std::uint64_t offset, std::uint64_t limit) const;
  // The same for the output of single tasks.
  Result<TaskReader::Source> source(const job::JobId& id) const;
  // The tasks of a job that runs, without the facts that are in its output. Kind::not_found: it does not run.
  Result<job::TaskPage> tasks(const job::JobId& id, const job::TaskQuery& query) const;
  // Of a job that runs; nullptr: it does not.
  const job::Manifest* manifest(const job::JobId& id) const;
  Result<std::unique_ptr<Subscription>> watch(const job::JobId& id, std::function<void()> changed);

 private:
  std::optional<job::JobSnapshot> snapshot_of(const job::JobId& id) const;
  std::uint64_t next_event(const job::JobId& id) const;
  JobHistory::Totals totals_of(const job::JobId& id) const;
  JobHistory* history(const job::JobId& id);
  // The history of a job that gets an event in this turn; nullptr: there is no such job.
  JobHistory* touch(const job::JobId& id);
  Result<JobHistory*> find(const job::JobId& id);
  void forget_old();

  void on(WallTime now, const job::JobAccepted& accepted);
  void on(WallTime now, const job::EffectStored& stored);
  void on(WallTime now, const job::InputWanted& wanted);
  void on(WallTime now, const job::ThreadPlaced& placed);
  void on(WallTime now, const job::ThreadResumed& resumed);
  void on(WallTime now, const job::ThreadRestarted& again);
  void on(WallTime now, const job::HostLost& lost);
  void on(WallTime now, const job::RunRepeated& repeated);
  void on(WallTime now, const job::TasksSkipped& skipped);
  void on(WallTime now, const job::ThreadFailed& failed);
  void on(WallTime now, const job::JobSuspended& suspended);
  void on(WallTime now, const job::JobResumed& resumed);
  void on(WallTime now, const job::JobOver& over);
  // Notices that are not events of a job.
  void on(WallTime, const job::BlobUploaded&) {}
  void on(WallTime, const job::BlobRefused&) {}
  void on(WallTime, const job::JobRefused&) {}
  void on(WallTime, const job::InputStored&) {}
  void on(WallTime, const job::InputRefused&) {}
  void on(WallTime, const job::JobRequestRefused&) {}
  void on(WallTime, const job::PeerSeen&) {}
  void on(WallTime, const job::GridAnswered&) {}
  void on(WallTime, const job::PeerRefused&) {}
  void on(WallTime, const job::RecordsDamaged&) {}

  const peer::Peer& peer_;
  const std::uint64_t first_number_;
  std::map<job::JobId, JobHistory> jobs_;
  std::set<job::JobId> touched_;  // of jobs_: those with events in this turn
  std::deque<job::JobId> past_;   // of jobs_: those that are over, in the order of hearing so
  JobWatchers watchers_;
};

}  // namespace gw::node
