#include "worker/lane.h"

#include <utility>

#include "os/clock.h"
#include "worker/virtual_thread.h"

namespace gw::worker {

Result<std::unique_ptr<Lane>> Lane::make(isolate::Engine& engine, std::size_t number, OutgoingFrames& outgoing) {
  GW_TRY(auto thread, engine.make_thread());
  return std::unique_ptr<Lane>(new Lane(std::move(thread), number, outgoing));
}

void Lane::enqueue(std::shared_ptr<VirtualThread> thread) {
  bool idle = false;
  {
    std::lock_guard lock(mutex_);
    idle = !std::exchange(posted_, true);
    ready_.push_back(std::move(thread));
  }
  if (idle) {
    post_step();
  } else {
    outgoing_.wake();  // the loop has to watch the slice now
  }
}

void Lane::offer_tasks() {
  {
    std::lock_guard lock(mutex_);
    tasks_offered_ = true;
    if (!task_thread_ || std::exchange(posted_, true)) return;
  }
  post_step();
}

bool Lane::others_ready() const {
  std::lock_guard lock(mutex_);
  return !ready_.empty();
}

void Lane::set_task_thread(std::shared_ptr<VirtualThread> thread) {
  std::lock_guard lock(mutex_);
  task_thread_ = std::move(thread);
}

void Lane::post_step() {
  // There is never more than one step in the queue of the pool thread, so there is room.
  const Status posted = thread_->post([this] { step(); });
  GW_ASSERT(posted.has_value());
}

void Lane::step() {
  std::shared_ptr<VirtualThread> thread;
  bool for_tasks = false;
  {
    std::lock_guard lock(mutex_);
    for_tasks = ready_.empty();
    if (for_tasks) {
      thread = task_thread_;
      tasks_offered_ = false;
    } else {
      thread = std::move(ready_.front());
      ready_.pop_front();
    }
    current_ = thread;
    started_ = os::monotonic_now();
  }
  if (for_tasks) {
    thread->take_tasks();
  } else {
    thread->step();
  }
  bool more = false;
  {
    std::lock_guard lock(mutex_);
    current_.reset();
    posted_ = more = !ready_.empty() || (tasks_offered_ && task_thread_);
  }
  thread.reset();  // its isolate, if this was the last owner, goes on this thread
  if (more) post_step();
}

std::optional<Lane::Time> Lane::slice_ends() const {
  std::lock_guard lock(mutex_);
  return current_ && !ready_.empty() ? std::optional<Time>(started_ + kSlice) : std::nullopt;
}

void Lane::on_tick(Time now) {
  std::shared_ptr<VirtualThread> slow;
  {
    std::lock_guard lock(mutex_);
    if (!current_ || ready_.empty() || now < started_ + kSlice) return;
    started_ = now;
    slow = current_;
  }
  slow->give_way();
}

}  // namespace gw::worker
