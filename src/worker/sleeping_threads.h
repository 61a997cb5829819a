#pragma once
// Virtual threads that wait for a moment.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace gw::worker {

// When to wake whom. A thread may be in it several times or without need: waking early does no harm. At most one entry per thread matters,
// and the number of threads is bounded, so the set is.
class SleepingThreads {
 public:
  using Time = std::chrono::nanoseconds;  // os::monotonic_now()

  void add(Time deadline, std::uint64_t thread) {
    std::lock_guard lock(mutex_);
    entries_.emplace(deadline, thread);
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
      entries_.erase(entries_.begin());
    }
    return due;
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::pair<Time, std::uint64_t>> entries_;  // guarded by mutex_
};

}  // namespace gw::worker
