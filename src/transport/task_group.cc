#include "transport/task_group.h"

#include <exception>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace gw::transport {
namespace {

// The root of every coroutine. A stop makes its operation fail instead of throwing through it, so that it can end in order.
asio::awaitable<void> run(asio::awaitable<void> body) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await std::move(body);
}

std::string words(std::exception_ptr failure) {
  try {
    std::rethrow_exception(std::move(failure));
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something unknown was thrown";
  }
}

}  // namespace

TaskGroup::~TaskGroup() { GW_ASSERT(tasks_.empty()); }

void TaskGroup::spawn(std::string name, asio::awaitable<void> body) {
  auto task = tasks_.emplace(tasks_.end());
  task->name = std::move(name);
  asio::co_spawn(executor_, run(std::move(body)), asio::bind_cancellation_slot(task->stop.slot(), [this, task](std::exception_ptr failure) {
                   on_ended(task, std::move(failure));
                 }));
}

void TaskGroup::stop() {
  // Handlers of cancelled operations run later, through the executor, so the list does not change under us.
  for (auto& task : tasks_) task.stop.emit(asio::cancellation_type::all);
}

asio::awaitable<void> TaskGroup::wait() {
  while (!tasks_.empty()) {
    all_ended_.expires_at(asio::steady_timer::time_point::max());
    co_await all_ended_.async_wait(kAsTuple);
  }
}

void TaskGroup::on_ended(std::list<Task>::iterator task, std::exception_ptr failure) {
  if (failure) log::error("transport", "a task ended by an exception", kv("task", task->name), kv("what", words(std::move(failure))));
  tasks_.erase(task);
  if (tasks_.empty()) all_ended_.cancel();
}

}  // namespace gw::transport
