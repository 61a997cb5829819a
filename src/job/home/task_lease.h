#pragma once
// The tasks that one host has of a job, at the job's home.
//
// The problem. A host must have its next tasks before it has ended the present ones, or it is idle for a round trip after each batch. But
// tasks that wait at a slow host, or at one that never answers, delay the end of the job, and nobody knows beforehand how long tasks take.
//
// Ways that were rejected. A fixed number of tasks for each host: too few for tasks of 10 µs, too many for tasks of a minute. Asking the
// user: the answer differs between machines and inputs. Letting hosts ask for tasks: a host that is idle has to wait for the answer.
//
// Invariants.
// 1. A lease begins with a few tasks per slot, and its window at most doubles with each report: a host shows its speed before it gets many.
// 2. A window is at most what the host ends in Config::lead at its own measured rate, but two tasks for each free slot. Without
//    Config::prefetch it is one task for each free slot.
// 3. Near the end of the job no host holds more than its share of the tasks that are left.
// 4. Batches and reports are numbered without gaps. A batch that is not acknowledged is repeated; the content of a report counts once.

#include <cstdint>
#include <deque>
#include <vector>

#include "job/actions.h"
#include "job/tasks/task_set.h"

namespace gw::job {

// The lease of one claim. Costs: O(log ranges) per call. Limits: Config. A value without threads.
class TaskLease {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time lead = std::chrono::milliseconds(200);   // work that a host has in advance
    Time period = std::chrono::milliseconds(20);  // of measuring, at least
    std::uint32_t first = 2;                      // tasks per slot, before anything is known
    std::uint32_t window = 1u << 16;              // at most
    bool prefetch = true;                         // false: a host has no task in advance
    std::size_t unacknowledged = 64;              // batches
  };

  // Tasks at the host of which there is no result yet.
  const TaskSet& held() const { return held_; }
  bool holds(std::uint32_t task) const { return held_.contains(task); }
  // The task is over, or not this host's any more.
  bool remove(std::uint32_t task) { return held_.remove(task); }

  // How many tasks more the host should get. `slots`: free ones; `share`: of the tasks that wait, its part by its slots.
  std::uint32_t wanted(const Config& config, std::uint32_t slots, std::uint64_t share) const;
  // The message that gives these tasks to the host.
  JobMessage give(Time now, const Config& config, std::uint64_t claim, TaskSpan tasks);
  // The message that takes all tasks back; they are not held any more.
  JobMessage recall(Time now, const Config& config, std::uint64_t claim);
  // The messages that are to be repeated now.
  std::vector<JobMessage> resend(Time now, const Config& config);
  Time next_due() const { return batches_.empty() ? kNever : resend_at_; }

  // Whether the content of the report counts: it is the next one. The caller acknowledges every report whose number is not beyond
  // reports().
  bool on_report(const JobMessage::TaskReport& report);
  // A report of so many results has come.
  void on_results(Time now, const Config& config, std::uint64_t results);
  // The last report that has counted.
  std::uint64_t reports() const { return reports_; }
  // Results per second; 0: not measured.
  double rate() const { return rate_; }

 private:
  JobMessage add(Time now, const Config& config, JobMessage::TaskBatch batch);

  TaskSet held_;
  std::deque<JobMessage::TaskBatch> batches_;  // not acknowledged
  std::uint64_t next_batch_ = 1;
  std::uint64_t reports_ = 0;
  Time resend_at_ = kNever;
  std::uint32_t window_ = 0;  // 0: as at first
  double rate_ = 0;
  Time period_began_ = kNever;  // never: nothing is held
  std::uint64_t period_results_ = 0;
};

// The acknowledgement of all reports up to this one.
JobMessage reports_stored_message(std::uint64_t claim, std::uint64_t reports);

}  // namespace gw::job
