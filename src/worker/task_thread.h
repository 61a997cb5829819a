#pragma once
// A virtual thread that carries out tasks instead of running a program from its start.

#include <atomic>
#include <cstdint>
#include <memory>

#include "isolate/task_host.h"
#include "worker/virtual_thread.h"

namespace gw::worker {

// A warm isolate on a lane's pool thread; calls wait there for their turn, beside the steps of other threads. What tasks print or report
// are effects of this thread. At most kMaxWaiting calls wait.
//
// The loop makes and calls it; it is destroyed with the worker.
class TaskThread final : private isolate::ThreadHost {
 public:
  static constexpr std::size_t kMaxWaiting = 1024;

  TaskThread(ThreadEnvironment& environment, Lane& lane, job::EffectGate gate, isolate::IsolateConfig config);

  ThreadGate& gate() { return gate_; }
  InputPieces& input() { return input_; }
  // Answered by TaskDone. Kind::overloaded: too many wait.
  Status call(const wire::pb::ToWorker::CallTask& request);

 private:
  void make(isolate::IsolateConfig config);
  void carry_out(const wire::pb::ToWorker::CallTask& request);
  std::uint64_t id() const override { return id_; }
  Status report(ByteView bytes) override;
  bool has_room(isolate::Outlet outlet) const override { return gate_.has_room(outlet); }
  void wait_for_room(isolate::Outlet outlet, std::chrono::milliseconds timeout) override { gate_.wait_for_room(outlet, timeout); }

  ThreadEnvironment& environment_;
  Lane& lane_;
  const std::uint64_t id_;
  ThreadGate gate_;
  InputPieces input_;
  GateOutput output_{gate_, 1}, errors_{gate_, 2};
  isolate::SystemClock clock_;
  std::atomic<std::size_t> waiting_ = 0;

  // --- the pool thread only
  Result<std::unique_ptr<isolate::TaskHost>> host_;
};

}  // namespace gw::worker
