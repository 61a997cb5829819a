#pragma once
// The worker processes of one simulated node.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/rng.h"
#include "fake_worker.h"
#include "job/actions.h"
#include "run_log.h"
#include "timeline.h"

namespace gw::sim {

// Starts and kills workers, brings them frames with what goes beside them, and lets their threads take steps in virtual time. Frames of a
// worker that is gone come to nothing. A value of the simulation; timeline and log outlive it.
class WorkerPool {
 public:
  struct Node {  // what it needs of the node around it
    Hash256 module;
    Time step{0};  // mean time between two steps of a thread
    std::function<Time()> clock;
    std::function<std::optional<std::string>(const Hash256&)> blob;
    std::function<void(job::WorkerId, WorkerOutput)> deliver;
    std::function<void(job::WorkerId, std::string why)> died;
    std::function<void(const job::JobId&, ThreadId, std::uint64_t epoch)> started;
  };

  WorkerPool(Node node, Timeline& timeline, RunLog& log, Rng rng) : node_(std::move(node)), timeline_(timeline), log_(log), rng_(rng) {}

  void start(job::WorkerId worker, const job::JobId& job);
  void kill(job::WorkerId worker) { workers_.erase(worker); }
  void kill_all();
  void on_frame(const job::FrameToWorker& action);

  std::optional<job::WorkerId> any() const;
  // It dies by itself, and the node is told.
  void crash(job::WorkerId worker);

 private:
  Result<Bytes> assemble(const job::Attachment& attachment) const;
  void step_later(job::WorkerId worker, ThreadId thread);
  void step(job::WorkerId worker, ThreadId thread);
  void take(job::WorkerId worker, std::vector<WorkerOutput> outputs);

  const Node node_;
  Timeline& timeline_;
  RunLog& log_;
  Rng rng_;
  std::map<job::WorkerId, FakeWorker> workers_;
  std::uint64_t life_ = 0;  // worker ids begin anew with each life of the node
};

}  // namespace gw::sim
