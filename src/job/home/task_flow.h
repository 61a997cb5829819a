#pragma once
// Which tasks of a graph may run; docs/design/020-graphs.md.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/reason.h"
#include "job/actions.h"
#include "job/authority/manifest.h"
#include "job/home/task_files.h"
#include "job/home/task_table.h"
#include "job/home/thread_table.h"

namespace gw::job {

// Holds the tasks of each stage until the stages before it have ended well and their files are ready, and skips those behind a task that
// failed for good. For a job without a graph it does nothing.
//
// Invariants: a task is leased only if all tasks of all stages before its own have ended well; a task that waits is skipped as soon as one
// of them has failed. Nothing of this is recorded: begin() finds it from the results. Costs: O(stages behind) for the last end of a stage;
// a stage is skipped once. A few words for each stage. A value without threads.
class TaskFlow {
 public:
  // All outlive it.
  TaskFlow(const Manifest& manifest, TaskTable& tasks, TaskFiles& files) : manifest_(manifest), tasks_(tasks), files_(files) {}

  // Holds and skips what the results so far demand. Called once, before any task is leased. O(tasks).
  void begin(const ThreadTable& threads);
  // The task is over, as a task or as a thread.
  enum class End : std::uint8_t { well, badly };
  void on_over(std::uint32_t task, End how, Actions& out);
  // The files that the task has left for others are ready.
  void on_files_ready(std::uint32_t task) { leave(manifest_.graph()->stage_of(task)); }
  // After a restart of home: makes ready what tasks that are over have left.
  void list_files(Actions& out);
  // Tells which tasks are skipped since the last call.
  void tell_skipped(const JobId& job, Actions& out);
  // Tasks were released since the last call.
  bool take_released() { return std::exchange(released_, false); }

  // Why a held task waits. REQUIRES: there is a graph.
  Explanation why_held(std::uint32_t task) const;

 private:
  enum class Fate : std::uint8_t { good, failed, skipped };  // failed: a task of the stage has

  bool is_over(std::uint32_t stage) const { return left_[stage] == 0; }
  void leave(std::uint32_t stage);
  void skip_behind(std::uint32_t stage, std::uint32_t cause);

  const Manifest& manifest_;
  TaskTable& tasks_;
  TaskFiles& files_;
  std::vector<std::uint32_t> unlisted_;  // tasks whose files list_files() makes ready
  std::vector<std::uint32_t> left_;      // tasks of the stage that are not over, or whose files are not ready
  std::vector<std::uint32_t> before_;    // stages before it that are not over
  std::vector<Fate> fates_;
  std::map<std::uint32_t, TaskSet> newly_skipped_;  // by the task that failed
  bool released_ = false;
};

}  // namespace gw::job
