#pragma once
// The tasks of an array as their home knows them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/names.h"
#include "job/tasks/task_set.h"

namespace gw::job {

// Why a task has no result, or a bad one.
struct TaskFailure {
  std::uint32_t exit_code = 0;
  std::string sentence;  // empty: the program has exited by itself
  std::optional<PeerId> host;
};

// All tasks of an array: two bits for each, and a set of those that wait (docs/design/013-task-plane.md).
//
// Invariants: every task is in one state; a task that is over, or has become a thread, stays so. Each operation costs O(log ranges) or
// O(tasks named). Limits: kMaxFailures failures are kept with their sentences, others are counted only. A value without threads.
class TaskTable {
 public:
  enum class State : std::uint8_t { waiting, leased, thread, over };
  static constexpr std::size_t kMaxFailures = 10'000;
  static constexpr std::size_t kMaxSentence = 512;

  // All tasks wait. 0: the job is no array, or its tasks are threads from their start.
  explicit TaskTable(std::uint32_t tasks);

  std::uint32_t size() const { return size_; }
  State state(std::uint32_t task) const;
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t leased() const { return leased_; }
  std::size_t ended() const { return ended_; }    // well
  std::size_t failed() const { return failed_; }  // with an exit code other than 0, or not by themselves
  std::size_t threads() const { return threads_; }
  // Tasks that are neither over nor threads.
  std::size_t unfinished() const { return size_ - ended_ - failed_ - threads_; }
  // The highest exit code.
  std::uint32_t exit_code() const { return exit_code_; }

  // Leases the first tasks that wait and follow each other, at most `most`.
  std::optional<TaskSpan> lease(std::size_t most);
  // REQUIRES of these: the task is leased.
  void wait(std::uint32_t task);
  void promote(std::uint32_t task);
  void end(std::uint32_t task);
  void fail(std::uint32_t task, TaskFailure failure);

  // A run of the task has ended badly, and it may run again: how often that has happened to it.
  std::uint32_t count_attempt(std::uint32_t task) { return ++attempts_[task]; }
  std::uint32_t attempts(std::uint32_t task) const;

  // The failure of a task; nullptr: it has not failed, or its failure was not kept.
  const TaskFailure* failure(std::uint32_t task) const;
  const std::map<std::uint32_t, TaskFailure>& failures() const { return failures_; }
  // All that have failed, also those whose failures were not kept.
  const TaskSet& failed_tasks() const { return failed_tasks_; }

  // After a restart of home: the task is leased, so that one of the functions above can say what became of it. REQUIRES: the task waits.
  std::uint32_t recover(std::uint32_t task);

 private:
  void set(std::uint32_t task, State state);
  void leave_lease(std::uint32_t task);

  std::uint32_t size_;
  std::vector<std::uint64_t> states_;  // two bits a task
  TaskSet waiting_;
  std::size_t leased_ = 0, ended_ = 0, failed_ = 0, threads_ = 0;
  std::uint32_t exit_code_ = 0;
  std::map<std::uint32_t, std::uint32_t> attempts_;  // of tasks that are not over
  std::map<std::uint32_t, TaskFailure> failures_;
  TaskSet failed_tasks_;
};

}  // namespace gw::job
