#include "job/home/task_table.h"

#include <algorithm>

#include "base/check.h"

namespace gw::job {
namespace {

constexpr std::uint32_t kPerWord = 32;

}  // namespace

TaskTable::TaskTable(std::uint32_t tasks, const std::vector<TaskSpan>& selected)
    : size_(tasks), states_((tasks + kPerWord - 1) / kPerWord) {
  for (std::uint64_t& word : states_) word = ~std::uint64_t{0};  // over, as tasks that are not part of the job are
  for (const TaskSpan& span : selected) {
    for (std::uint32_t i = 0; i < span.count; ++i) set(span.first + i, State::waiting);
    if (span.count > 0) waiting_.add(span);
    selected_ += span.count;
  }
}

TaskTable::State TaskTable::state(std::uint32_t task) const {
  return static_cast<State>(states_[task / kPerWord] >> (2 * (task % kPerWord)) & 3);
}

void TaskTable::set(std::uint32_t task, State state) {
  std::uint64_t& word = states_[task / kPerWord];
  const std::uint32_t shift = 2 * (task % kPerWord);
  word = (word & ~(std::uint64_t{3} << shift)) | static_cast<std::uint64_t>(state) << shift;
}

std::optional<TaskSpan> TaskTable::lease(std::size_t most, const PeerId& host, SameHost same_host) {
  if (most == 0) return std::nullopt;
  for (auto failed = again_.begin(); failed != again_.end(); ++failed) {
    if (failed->first == host && same_host == SameHost::no) continue;
    const std::optional<TaskSpan> span = failed->second.take_first(most);
    again_count_ -= span->count;
    if (failed->second.empty()) again_.erase(failed);
    return mark_leased(span);
  }
  return mark_leased(waiting_.take_first(most));
}

std::optional<TaskSpan> TaskTable::mark_leased(std::optional<TaskSpan> span) {
  if (!span) return std::nullopt;
  for (std::uint32_t i = 0; i < span->count; ++i) set(span->first + i, State::leased);
  leased_ += span->count;
  return span;
}

void TaskTable::hold(TaskSpan tasks) {
  for (const TaskSpan& span : waiting_.within(tasks)) {
    waiting_.remove(span);
    held_.add(span);
  }
}

void TaskTable::release(TaskSpan tasks) {
  for (const TaskSpan& span : held_.within(tasks)) {
    held_.remove(span);
    waiting_.add(span);
  }
}

void TaskTable::skip(TaskSpan tasks) {
  hold(tasks);
  for (const TaskSpan& span : held_.within(tasks)) {
    held_.remove(span);
    skipped_.add(span);
    for (std::uint32_t i = 0; i < span.count; ++i) set(span.first + i, State::over);
  }
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

void TaskTable::run_again(std::uint32_t task, const PeerId& host) {
  leave_lease(task);
  set(task, State::waiting);
  again_[host].add(task);
  ++again_count_;
  ++failed_runs_[task];
}

void TaskTable::leave_for_good(std::uint32_t task) {
  leave_lease(task);
  attempts_.erase(task);
  failed_runs_.erase(task);
}

void TaskTable::promote(std::uint32_t task) {
  leave_for_good(task);
  set(task, State::thread);
  ++threads_;
}

void TaskTable::end(std::uint32_t task) {
  leave_for_good(task);
  set(task, State::over);
  ++ended_;
}

void TaskTable::fail(std::uint32_t task, TaskFailure failure) {
  leave_for_good(task);
  set(task, State::over);
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

std::uint32_t TaskTable::failed_runs(std::uint32_t task) const {
  const auto found = failed_runs_.find(task);
  return found == failed_runs_.end() ? 0 : found->second;
}

const TaskFailure* TaskTable::failure(std::uint32_t task) const {
  const auto found = failures_.find(task);
  return found == failures_.end() ? nullptr : &found->second;
}

TaskSet TaskTable::waiting_tasks() const {
  TaskSet waiting = waiting_;
  for (const auto& [host, tasks] : again_)
    for (const TaskSpan& span : tasks.spans()) waiting.add(span);
  return waiting;
}

TaskSet TaskTable::unfinished_tasks() const {
  TaskSet unfinished;
  constexpr std::uint64_t kAllOver = ~std::uint64_t{0};
  for (std::uint32_t task = 0; task < size_; ++task) {
    if (task % kPerWord == 0 && states_[task / kPerWord] == kAllOver) {
      task += kPerWord - 1;
    } else if (state(task) == State::waiting || state(task) == State::leased) {
      unfinished.add(task);
    }
  }
  return unfinished;
}

std::uint32_t TaskTable::recover(std::uint32_t task) {
  GW_ASSERT(waiting_.remove(task));
  set(task, State::leased);
  ++leased_;
  return task;
}

}  // namespace gw::job
