#pragma once
// Children of forks, on their way from the pool thread where they were born to the worker's table.

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gw::worker {

class VirtualThread;

// Counts the threads that are alive, so that a program cannot fork without end, and holds the children until the loop takes them. Any
// thread.
class ForkedThreads {
 public:
  // REQUIRES: no thread is alive yet.
  void set_limit(std::uint64_t threads) { limit_ = threads; }

  // A place for one more thread; false: there is none.
  bool reserve() {
    std::lock_guard lock(mutex_);
    if (alive_ >= limit_) return false;
    alive_++;
    return true;
  }
  void release(std::uint64_t places) {
    std::lock_guard lock(mutex_);
    alive_ -= places;
  }

  void put(std::shared_ptr<VirtualThread> child) {
    std::lock_guard lock(mutex_);
    children_.push_back(std::move(child));
  }
  std::vector<std::shared_ptr<VirtualThread>> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(children_, {});
  }

 private:
  std::mutex mutex_;
  std::uint64_t limit_ = 0, alive_ = 0;                   // guarded by mutex_
  std::vector<std::shared_ptr<VirtualThread>> children_;  // guarded by mutex_; shared with nobody until it is taken
};

}  // namespace gw::worker
