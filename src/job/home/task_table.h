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
// A task that is held waits for others to end (TaskFlow) and is not leased meanwhile; one that is skipped never runs.
//
// Invariants: every task is in one state; a task that is over, or has become a thread, stays so. Each operation costs O(log ranges) or
// O(tasks named). Limits: kMaxFailures failures are kept with their sentences, others are counted only. A value without threads.
class TaskTable {
 public:
  enum class State : std::uint8_t { waiting, leased, thread, over };
  static constexpr std::size_t kMaxFailures = 10'000;
  static constexpr std::size_t kMaxSentence = 512;

  // Of an array of `tasks` those in `selected` wait; the others are not part of the job. 0: the job is no array, or its tasks are threads
  // from their start.
  explicit TaskTable(std::uint32_t tasks) : TaskTable(tasks, {TaskSpan{0, tasks}}) {}
  TaskTable(std::uint32_t tasks, const std::vector<TaskSpan>& selected);

  // Of the array: the number of each task is below it.
  std::uint32_t size() const { return size_; }
  std::uint32_t selected() const { return selected_; }
  State state(std::uint32_t task) const;
  std::size_t waiting() const { return waiting_.size() + again_count_; }
  std::size_t leased() const { return leased_; }
  std::size_t ended() const { return ended_; }    // well
  std::size_t failed() const { return failed_; }  // with an exit code other than 0, or not by themselves
  std::size_t threads() const { return threads_; }
  std::size_t skipped() const { return skipped_.size(); }
  // Tasks that are neither over nor threads.
  std::size_t unfinished() const { return selected_ - ended_ - failed_ - threads_ - skipped_.size(); }
  // The highest exit code.
  std::uint32_t exit_code() const { return exit_code_; }

  // Leases the first tasks that wait and follow each other, at most `most`; first those that run again. A task that failed at this host
  // is leased to it again only if `same_host`.
  enum class SameHost : std::uint8_t { no, yes };
  std::optional<TaskSpan> lease(std::size_t most, const PeerId& host, SameHost same_host);
  // REQUIRES of these: the task is leased.
  void wait(std::uint32_t task);
  // A run of the task has failed at this host: it waits to run again, elsewhere if possible.
  void run_again(std::uint32_t task, const PeerId& host);
  void promote(std::uint32_t task);
  void end(std::uint32_t task);
  void fail(std::uint32_t task, TaskFailure failure);

  // Of these tasks those that wait are not leased until they are released, or will never run.
  void hold(TaskSpan tasks);
  void release(TaskSpan tasks);
  void skip(TaskSpan tasks);
  const TaskSet& held_tasks() const { return held_; }
  const TaskSet& skipped_tasks() const { return skipped_; }

  // A run of the task has ended badly, and it may run again: how often that has happened to it.
  std::uint32_t count_attempt(std::uint32_t task) { return ++attempts_[task]; }
  std::uint32_t attempts(std::uint32_t task) const;
  // How often a run of the task has failed and was repeated.
  std::uint32_t failed_runs(std::uint32_t task) const;
  bool runs_again(std::uint32_t task) const { return failed_runs(task) > 0 && state(task) == State::waiting; }
  // After a restart of home: a run of the task has failed.
  void recover_failed_run(std::uint32_t task) { ++failed_runs_[task]; }
  // Tasks that wait, are not held and are leased to no claim.
  TaskSet waiting_tasks() const;
  // Tasks that wait, held or not, or are leased. O(tasks): for the end of the job.
  TaskSet unfinished_tasks() const;

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
  void leave_for_good(std::uint32_t task);
  std::optional<TaskSpan> mark_leased(std::optional<TaskSpan> span);

  std::uint32_t size_;
  std::uint32_t selected_ = 0;
  std::vector<std::uint64_t> states_;  // two bits a task
  TaskSet waiting_;                    // but for those in again_ and held_
  TaskSet held_;                       // in the state waiting
  TaskSet skipped_;                    // in the state over
  std::map<PeerId, TaskSet> again_;    // tasks that wait to run again, by the host where they failed last
  std::size_t again_count_ = 0;        // of them
  std::size_t leased_ = 0, ended_ = 0, failed_ = 0, threads_ = 0;
  std::uint32_t exit_code_ = 0;
  std::map<std::uint32_t, std::uint32_t> attempts_;     // of tasks that are not over
  std::map<std::uint32_t, std::uint32_t> failed_runs_;  // likewise
  std::map<std::uint32_t, TaskFailure> failures_;
  TaskSet failed_tasks_;
};

}  // namespace gw::job
