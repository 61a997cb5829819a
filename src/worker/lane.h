#pragma once
// A pool thread and the virtual threads that take turns on it.

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "isolate/engine/engine.h"
#include "worker/outgoing_frames.h"

namespace gw::worker {

class VirtualThread;

// Runs what is ready, round robin, one step at a time. A step that takes longer than a slice is asked to give way if, and only if, another
// thread of the same lane is ready: a suspension costs little, but nothing is gained by one when no thread waits.
//
// When no thread is ready, its task thread takes tasks: tasks begin only on a lane that has nothing else to do.
//
// Any thread. Outlives its virtual threads' steps: stop() comes first.
class Lane {
 public:
  using Time = std::chrono::nanoseconds;  // os::monotonic_now()
  static constexpr std::chrono::milliseconds kSlice{50};

  // `number`: 0, 1, 2, ... in the worker.
  static Result<std::unique_ptr<Lane>> make(isolate::Engine& engine, std::size_t number, OutgoingFrames& outgoing);

  std::size_t number() const { return number_; }
  isolate::PoolThread& pool_thread() { return *thread_; }
  // Lets the thread make a step. REQUIRES: the thread is not in the queue.
  void enqueue(std::shared_ptr<VirtualThread> thread);
  // Lets the task thread take tasks when no other thread is ready.
  void offer_tasks();
  // A thread waits for its turn, so no new task should begin.
  bool others_ready() const;

  // --- the loop

  // When the step in progress has to give way; none if no thread waits.
  std::optional<Time> slice_ends() const;
  void on_tick(Time now);
  // Null: this worker has no tasks. The one before has become an ordinary thread.
  void set_task_thread(std::shared_ptr<VirtualThread> thread);
  VirtualThread* task_thread() const { return task_thread_.get(); }

 private:
  Lane(std::unique_ptr<isolate::PoolThread> thread, std::size_t number, OutgoingFrames& outgoing)
      : thread_(std::move(thread)), number_(number), outgoing_(outgoing) {}
  void post_step();
  void step();

  std::unique_ptr<isolate::PoolThread> thread_;
  const std::size_t number_;
  OutgoingFrames& outgoing_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<VirtualThread>> ready_;  // guarded by mutex_, like all below; shared with the worker's table
  std::shared_ptr<VirtualThread> current_;            // makes a step
  Time started_{0};                                   // that step, or the last request to give way
  bool posted_ = false;                               // a step is in progress, or in the queue of the pool thread
  std::shared_ptr<VirtualThread> task_thread_;        // set by the loop only, which may read it without the lock
  bool tasks_offered_ = false;
};

}  // namespace gw::worker
