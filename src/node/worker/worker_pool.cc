#include "node/worker/worker_pool.h"

namespace gw::node {

Status WorkerPool::refill() {
  while (idle_.size() < spares_) {
    GW_TRY(auto worker, WorkerProcess::start(config_));
    idle_.push_back(std::move(worker));
  }
  return ok();
}

void WorkerPool::set_nice(std::uint32_t nice) {
  if (std::exchange(config_.nice, nice) != nice) idle_.clear();
}

Result<std::unique_ptr<WorkerProcess>> WorkerPool::take() {
  while (!idle_.empty()) {
    auto worker = std::move(idle_.front());
    idle_.pop_front();
    (void)worker->on_turn();  // notices one that has died; an idle one says nothing but hello
    if (!worker->death()) return worker;
  }
  return WorkerProcess::start(config_);
}

}  // namespace gw::node
