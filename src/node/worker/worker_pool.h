#pragma once
// Workers started ahead of time.

#include <cstddef>
#include <deque>
#include <memory>

#include "node/worker/worker_process.h"

namespace gw::node {

// Keeps a number of workers started, caged and idle, so that a job does not wait for one to start. A worker serves one job and is never
// put back. Belongs to the thread that made it.
class WorkerPool {
 public:
  WorkerPool(WorkerProcess::Config config, std::size_t spares) : config_(std::move(config)), spares_(spares) {}

  // Starts what is missing; the workers get ready by themselves.
  Status refill();
  // A spare that is alive, else a new one.
  Result<std::unique_ptr<WorkerProcess>> take();
  // Priority of workers from now on. Spares with a lower one cannot be raised: they go.
  void set_nice(std::uint32_t nice);

 private:
  WorkerProcess::Config config_;
  std::size_t spares_;
  std::deque<std::unique_ptr<WorkerProcess>> idle_;
};

}  // namespace gw::node
