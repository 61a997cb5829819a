#pragma once
// Virtual threads that wait for a moment.

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace gw::worker {

// The threads that sleep, with the last deadline that each has given, so there are as many entries as threads. An entry whose thread has
// gone, or goes on for another reason, stays until its time has come or forget(): waking without need does no harm. Any thread.
class SleepingThreads {
 public:
  using Time = std::chrono::nanoseconds;  // os::monotonic_now()

  void add(Time deadline, std::uint64_t thread) {
    std::lock_guard lock(mutex_);
    forget_locked(thread);
    deadlines_[thread] = deadline;
    entries_.emplace(deadline, thread);
  }
  void forget(std::uint64_t thread) {
    std::lock_guard lock(mutex_);
    forget_locked(thread);
  }
  std::optional<Time> next() const {
    std::lock_guard lock(mutex_);
    return entries_.empty() ? std::nullopt : std::optional(entries_.begin()->first);
  }
  std::vector<std::uint64_t> take_due(Time now) {
    std::lock_guard lock(mutex_);
    std::vector<std::uint64_t> due;
    while (!entries_.empty() && entries_.begin()->first <= now) {
      due.push_back(entries_.begin()->second);
      deadlines_.erase(due.back());
      entries_.erase(entries_.begin());
    }
    return due;
  }
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  void forget_locked(std::uint64_t thread) {
    const auto found = deadlines_.find(thread);
    if (found == deadlines_.end()) return;
    entries_.erase({found->second, thread});
    deadlines_.erase(found);
  }

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Time> deadlines_;  // guarded by mutex_, like below; the same entries by thread
  std::set<std::pair<Time, std::uint64_t>> entries_;
};

}  // namespace gw::worker
