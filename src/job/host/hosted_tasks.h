#pragma once
// The tasks of an array at a host; docs/design/013-task-plane.md.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "job/actions.h"
#include "job/host/code_staging.h"
#include "job/tasks/task_set.h"

namespace gw::job {

// Takes batches of tasks from home, keeps the worker supplied with them, and reports what became of each: a result, a thread, lost with the
// worker, or returned.
//
// Invariants: a task of a batch is reported once, unless home recalls it; reports have no gaps and are kept until home has stored them;
// what a worker says of a task that it does not have is refused. Limits: Config; home sends no more tasks than its lease allows, and a home
// that sends more gets them back. A machine without I/O or threads: its HostedJob owns and drives it.
class HostedTasks {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time acknowledge = std::chrono::milliseconds(100);  // a batch that no report follows
    std::size_t held = 1u << 17;                        // tasks at this host
    std::size_t in_worker = 4096;                       // tasks that the worker has at once
    std::size_t rows_in_worker = 1024;                  // the same, if they have rows, whose bytes are in the worker too
    std::size_t frame_rows = 512u << 10;                // bytes of rows in one frame, beside a row that is longer by itself
    std::size_t unstored_bytes = 32u << 20;             // of results that home has not stored: then the worker gets no more tasks
    std::size_t report_bytes = 512u << 10;              // of one report, beside a result that is longer by itself
    std::size_t repeated_reports = 16;                  // at a time
  };
  struct Environment {  // outlives it
    JobId job;
    PeerId home;
    std::uint64_t claim;
    CodeStaging& code;
  };

  HostedTasks(const Config& config, const Environment& environment) : config_(config), environment_(environment) {}

  // Nothing is left to run. Reports may still be on their way.
  bool empty() const { return queued_.empty() && in_worker_.empty() && promoted_.empty(); }
  std::size_t queued() const { return queued_.size(); }
  // In the worker, for checkers: neither ended nor promoted.
  const TaskSet& in_worker() const { return in_worker_; }
  // Lanes of the worker that tasks may use now, of `slots`.
  std::size_t lanes_used(std::size_t slots) const { return promoted_.size() + std::min(in_worker_.size(), slots); }
  std::size_t promoted() const { return promoted_.size(); }
  // Tells the worker how many lanes are free for tasks, and gives it its next ones. Called after everything that may have changed that.
  enum class More : std::uint8_t { no, yes };
  void feed(Time now, std::uint32_t lanes, More more, Actions& out);

  // Home. `refused`: this host runs nothing, and why, if it is its fault.
  void on_batch(Time now, const JobMessage::TaskBatch& batch, const std::optional<std::string>& refused, Actions& out);
  bool has_promoted(std::uint32_t task) const { return promoted_.contains(task); }
  // A task that was promoted is home's thread now, and this host runs it. REQUIRES: has_promoted(task).
  void adopt(std::uint32_t task);
  // Home does not want the promoted task as a thread. False: it is not here.
  bool drop(std::uint32_t task, Actions& out);
  // The task is a thread of this host: it must not run as a task too.
  void forget(std::uint32_t task, Actions& out);
  // Gives back all tasks that have not ended.
  void return_all(Time now, const std::string& why, Actions& out);
  // What they need is lost: those of the tasks that are not in the worker, or all that are. Home repeats them, and fails them in the end.
  void lose_if(const std::function<bool(std::uint32_t)>& needs_it, Time now, const std::string& why, Actions& out);
  void lose_running(Time now, const std::string& why, Actions& out);

  // The worker. Kind::invalid: it has no such task.
  void on_worker_ready(Actions& out);
  Status on_results(Time now, const wire::pb::FromWorker::TaskResults& results, Actions& out);
  Status on_promoted(Time now, std::uint32_t task, Actions& out);
  // The worker lacks something to make an instance for the task, and the task is not to blame.
  void on_not_made(Time now, ThreadId thread, const std::string& why, Actions& out);
  // `running`: the tasks that ran at that moment, according to the process; `broken`: no other worker will be started.
  void on_worker_died(Time now, std::span<const std::uint32_t> running, const std::string& why, bool broken, Actions& out);

  void on_tick(Time now, Actions& out);
  Time next_due() const { return std::min(reports_.empty() ? kNever : resend_at_, acknowledge_at_); }

 private:
  std::uint32_t tasks() const { return environment_.code.manifest()->tasks(); }
  void begin_session(std::uint64_t session, Actions& out);
  void refuse_foreign_tasks(Actions& out);
  // The next tasks for the worker: all of a frame, or as many as their rows leave room for.
  void give_tasks(Time now, wire::pb::ToWorker& frame, Actions& out);
  bool give_task_with_row(Time now, std::uint32_t task, wire::pb::ToWorker& frame, Actions& out);
  void fail_task(Time now, std::uint32_t task, const std::string& why, Actions& out);
  void tell_tasks(std::uint32_t lanes, wire::pb::ToWorker frame, Actions& out);
  void add_returned(Time now, const TaskSet& tasks, const std::string& why, Actions& out);
  void add_lost(Time now, const TaskSet& tasks, const std::string& why, Actions& out);
  void close_report(Time now, Actions& out);
  void send(const JobMessage::TaskReport& report, Actions& out);
  void stop_all(Actions& out);

  const Config config_;
  const Environment environment_;
  TaskSet queued_;                // not in the worker yet
  TaskSet in_worker_;             // given to it
  TaskSet promoted_;              // home has not said yet what becomes of them
  std::uint64_t promotions_ = 0;  // of this worker
  std::uint64_t lanes_told_ = 0;  // with the promotions told
  std::uint64_t session_ = 0;     // of home
  std::uint64_t batches_ = 0;     // the last one that has come in order
  JobMessage::TaskReport open_;   // the next report
  struct SentReport {
    JobMessage::TaskReport report;
    std::size_t bytes;
  };
  std::deque<SentReport> reports_;  // not known to be stored
  std::uint64_t next_report_ = 1;
  std::size_t unstored_bytes_ = 0;
  Time resend_at_ = kNever;
  Time acknowledge_at_ = kNever;
};

}  // namespace gw::job
