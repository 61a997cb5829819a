#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "node/control.h"

namespace gw::cli {

// The progress of a job, counted from its events: the line shown while it runs, and the summary at its end. A follower that starts in the
// middle calls start_from() first. A value; one thread.
class JobProgress {
 public:
  explicit JobProgress(std::uint64_t tasks) : tasks_(tasks) {}

  // Counts what happened before the first event.
  void start_from(const node::JobSummary& summary);
  void take(const node::JobEvent& event);

  std::string line() const;     // "[####----] 31/60 done, 6 running on 3 peers, 1 peer lost, 2 threads resumed"
  std::string summary() const;  // "60 of 60 on 4 peers, 1 peer lost, 2 threads resumed"

 private:
  void place(job::ThreadId thread, const job::PeerId& host);
  void finish(job::ThreadId thread);
  std::string losses() const;

  std::uint64_t tasks_;
  std::uint64_t ended_ = 0, failed_ = 0, skipped_ = 0;
  std::uint64_t repeated_ = 0;
  std::optional<std::uint64_t> tasks_running_;  // of an array, as home says; none: counted from events
  std::uint64_t array_hosts_ = 0;               // the most that worked for an array at a time
  std::uint64_t resumed_ = 0, restarted_ = 0, peers_lost_ = 0;
  std::map<job::ThreadId, job::PeerId> running_;
  std::set<job::ThreadId> known_;
  std::set<job::PeerId> hosts_;
};

}  // namespace gw::cli
