#pragma once
// The memory of children that threads of this worker have spawned, on the chance that home places them here.

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "base/hash.h"
#include "isolate/fork_point.h"

namespace gw::worker {

// A child begins with its first image, wherever home places it. Here it is made of the memory of its parent instead, which it shares until
// one of them writes to it: the same state, without a copy. Limits: kMost children, for kHeldFor. Any thread.
class SpawnedChildren {
 public:
  using Time = std::chrono::nanoseconds;  // os::monotonic_now()
  static constexpr std::size_t kMost = 16;
  static constexpr std::chrono::seconds kHeldFor{5};

  void put(Time now, const Hash256& image, isolate::ForkPoint point) {
    std::lock_guard lock(mutex_);
    if (children_.size() >= kMost) children_.pop_front();
    children_.push_back({now + kHeldFor, image, std::move(point)});
  }
  // The child whose first image this is, if it is here.
  std::optional<isolate::ForkPoint> take(const Hash256& image) {
    std::lock_guard lock(mutex_);
    for (auto child = children_.begin(); child != children_.end(); ++child) {
      if (child->image != image) continue;
      std::optional<isolate::ForkPoint> point(std::move(child->point));
      children_.erase(child);
      return point;
    }
    return std::nullopt;
  }

  // --- the loop

  std::optional<Time> next() const {
    std::lock_guard lock(mutex_);
    return children_.empty() ? std::nullopt : std::optional(children_.front().until);
  }
  void on_tick(Time now) {
    std::lock_guard lock(mutex_);
    while (!children_.empty() && children_.front().until <= now) children_.pop_front();
  }

 private:
  struct Child {
    Time until;
    Hash256 image;
    isolate::ForkPoint point;
  };

  mutable std::mutex mutex_;
  std::deque<Child> children_;  // guarded by mutex_; the oldest first
};

}  // namespace gw::worker
