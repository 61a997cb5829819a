#pragma once
// A group of coroutines with an owner.

#include <list>
#include <string>

#include "transport/asio.h"

namespace gw::transport {

// Owns running coroutines: none is detached. spawn() starts one, stop() asks all to end, wait() returns when all have ended.
//
// After stop() the operation for which a coroutine waits fails with operation_aborted, if it can be cancelled; the coroutine must end then.
// An exception that leaves a coroutine is a bug: it is logged and ends that coroutine only. Belongs to one thread, as do its coroutines.
// REQUIRES: the last coroutine has ended before the destructor.
class TaskGroup {
 public:
  explicit TaskGroup(asio::any_io_executor executor) : executor_(std::move(executor)), all_ended_(executor_) {}
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // The coroutine starts later, never inside this call. `name` is for the log.
  void spawn(std::string name, asio::awaitable<void> body);
  // REQUIRES: called from a handler or coroutine of the executor. (From outside, Asio 1.81 would cancel later, a task that has ended by
  // then.)
  void stop();
  asio::awaitable<void> wait();
  std::size_t size() const { return tasks_.size(); }

 private:
  struct Task {
    std::string name;
    asio::cancellation_signal stop;
  };
  void on_ended(std::list<Task>::iterator task, std::exception_ptr failure);

  asio::any_io_executor executor_;
  std::list<Task> tasks_;
  asio::steady_timer all_ended_;
};

}  // namespace gw::transport
