#pragma once
// Coroutines that belong to somebody.

#include <list>
#include <string>

#include "transport/asio.h"

namespace gw::transport {

// Owns running coroutines: nothing is detached. spawn() starts one, stop() asks all to end, wait() is over when all have.
//
// After stop() the operation a coroutine waits for fails with operation_aborted, if it is one that can be cancelled; it must end then. An
// exception that leaves a coroutine is a bug: it is logged and ends that coroutine only. Belongs to one thread, as do its coroutines.
// REQUIRES: the last coroutine has ended before the group goes.
class TaskGroup {
 public:
  explicit TaskGroup(asio::any_io_executor executor) : executor_(std::move(executor)), all_ended_(executor_) {}
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // The coroutine begins later, never inside this call. `name` is for the log.
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
