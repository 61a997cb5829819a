#pragma once
// The worker processes of one simulated node.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/rng.h"
#include "fake_worker.h"
#include "job/actions.h"
#include "peer/peer.h"
#include "timeline.h"

namespace gw::sim {

// Starts and kills workers, delivers frames with their attachments, and lets their threads take steps in virtual time. Frames of a worker
// that has ended are dropped. A value of the simulation; the timeline outlives it.
class WorkerPool {
 public:
  struct Node {  // the parts of the node that the pool uses
    Hash256 module;
    job::EffectGate::Config gate;
    FakeWorker::IsFlaky is_flaky;
    Time step{0};  // mean time between two steps of a thread
    std::function<Time()> clock;
    std::function<std::optional<std::string>(const Hash256&)> blob;
    std::function<void(job::WorkerId, WorkerOutput)> deliver;
    std::function<void(job::WorkerId, peer::WorkerDied)> died;
    std::function<void(job::WorkerId, peer::RestoreFailed)> restore_failed;
    // Called when the node sends a worker a forbidden frame, or ends a worker for breaking a rule, which simulated workers never do by
    // themselves.
    std::function<void(const job::JobId&, std::string why)> misled;
    std::function<void(const job::JobId&, ThreadId, std::uint64_t epoch)> started;
  };

  WorkerPool(Node node, Timeline& timeline, Rng rng) : node_(std::move(node)), timeline_(timeline), rng_(rng) {}

  void start(job::WorkerId worker, const job::JobId& job);
  // `why`: the rule that the node says it broke; empty: it is not needed any more.
  void kill(job::WorkerId worker, const std::string& why);
  void kill_all();
  // A paused worker takes no frame and no step until it goes on.
  void pause(job::WorkerId worker, bool paused);
  bool paused(job::WorkerId worker) const { return paused_.contains(worker); }
  void on_frame(const job::FrameToWorker& action);

  std::optional<job::WorkerId> any() const;
  // Steps that all threads have taken, in all boots of the node.
  std::uint64_t steps() const { return steps_; }
  // The same of one job.
  std::uint64_t steps_of(const job::JobId& job) const {
    const auto found = steps_of_.find(job);
    return found == steps_of_.end() ? 0 : found->second;
  }
  // The worker crashes, and the node is told.
  void crash(job::WorkerId worker, const std::string& why);

 private:
  void end_misled(job::WorkerId worker, const std::string& why);
  void fail_restore(job::WorkerId worker, const wire::pb::ToWorker::Restore& frame, const Error& error);
  Result<Bytes> assemble(const job::Attachment& attachment) const;
  void step_later(job::WorkerId worker, ThreadId thread);
  void step(job::WorkerId worker, ThreadId thread);
  void take(job::WorkerId worker, std::vector<WorkerOutput> outputs);
  void begin_tasks(job::WorkerId worker, FakeWorker& process);

  const Node node_;
  Timeline& timeline_;
  Rng rng_;
  struct Paused {
    std::vector<ThreadId> steps;  // that are due
    std::vector<job::FrameToWorker> frames;
  };
  std::map<job::WorkerId, FakeWorker> workers_;
  std::map<job::WorkerId, Paused> paused_;
  std::uint64_t steps_ = 0;
  std::map<job::JobId, std::uint64_t> steps_of_;
  std::uint64_t life_ = 0;  // the node's boot: worker ids start again with each
};

}  // namespace gw::sim
