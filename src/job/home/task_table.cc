#include "job/home/task_table.h"

#include <algorithm>

#include "base/check.h"

namespace gw::job {
namespace {

constexpr std::uint32_t kPerWord = 32;

}  // namespace

TaskTable::TaskTable(std::uint32_t tasks) : size_(tasks), states_((tasks + kPerWord - 1) / kPerWord) { waiting_.add({0, tasks}); }

TaskTable::State TaskTable::state(std::uint32_t task) const {
  return static_cast<State>(states_[task / kPerWord] >> (2 * (task % kPerWord)) & 3);
}

void TaskTable::set(std::uint32_t task, State state) {
  std::uint64_t& word = states_[task / kPerWord];
  const std::uint32_t shift = 2 * (task % kPerWord);
  word = (word & ~(std::uint64_t{3} << shift)) | static_cast<std::uint64_t>(state) << shift;
}

std::optional<TaskSpan> TaskTable::lease(std::size_t most) {
  const std::optional<TaskSpan> span = waiting_.take_first(most);
  if (!span) return std::nullopt;
  for (std::uint32_t i = 0; i < span->count; ++i) set(span->first + i, State::leased);
  leased_ += span->count;
  return span;
}

void TaskTable::leave_lease(std::uint32_t task) {
  GW_ASSERT(state(task) == State::leased);
  --leased_;
}

void TaskTable::wait(std::uint32_t task) {
  leave_lease(task);
  set(task, State::waiting);
  waiting_.add(task);
}

void TaskTable::promote(std::uint32_t task) {
  leave_lease(task);
  set(task, State::thread);
  attempts_.erase(task);
  ++threads_;
}

void TaskTable::end(std::uint32_t task) {
  leave_lease(task);
  set(task, State::over);
  attempts_.erase(task);
  ++ended_;
}

void TaskTable::fail(std::uint32_t task, TaskFailure failure) {
  leave_lease(task);
  set(task, State::over);
  attempts_.erase(task);
  ++failed_;
  failed_tasks_.add(task);
  exit_code_ = std::max(exit_code_, failure.exit_code);
  if (failures_.size() >= kMaxFailures) return;
  if (failure.sentence.size() > kMaxSentence) failure.sentence.resize(kMaxSentence);
  failures_.emplace(task, std::move(failure));
}

std::uint32_t TaskTable::attempts(std::uint32_t task) const {
  const auto found = attempts_.find(task);
  return found == attempts_.end() ? 0 : found->second;
}

const TaskFailure* TaskTable::failure(std::uint32_t task) const {
  const auto found = failures_.find(task);
  return found == failures_.end() ? nullptr : &found->second;
}

std::uint32_t TaskTable::recover(std::uint32_t task) {
  GW_ASSERT(waiting_.remove(task));
  set(task, State::leased);
  ++leased_;
  return task;
}

}  // namespace gw::job
