#pragma once
// The queue of future events of an overlay simulation.

#include <cstdint>
#include <vector>

#include "outcome.h"

namespace gw::sim::overlay_simulation {

// A plain value: there are tens of millions of them in a run.
struct Event {
  enum class Kind : std::uint8_t { tick, deliver, dial_arrives, dial_over, unreachable, broken, reset, happening };
  Time at{0};
  std::uint64_t order = 0;  // orders events of the same time: as they were pushed
  std::uint32_t host = 0;
  std::uint32_t slot = 0;  // the number of the object it is about; depends on the kind
  Kind kind = Kind::tick;

  friend bool operator>(const Event& a, const Event& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
};

// A calendar queue: a bucket per millisecond, of which only the current one is sorted, and a heap for events beyond the last bucket.
class EventQueue {
 public:
  EventQueue();

  // REQUIRES: not before the last event popped.
  void push(Event event);
  bool empty() const { return count_ == 0; }
  // REQUIRES: !empty().
  Time next_time();
  Event pop();
  // The event `count` places after the next one, unless another is pushed in between; nullptr: not known yet.
  const Event* ahead(std::size_t count) const { return count < current_.size() ? &current_[current_.size() - 1 - count] : nullptr; }

 private:
  static constexpr Time kWidth = std::chrono::milliseconds(1);
  static constexpr std::uint64_t kBuckets = 1 << 14;  // 16 seconds

  static std::uint64_t bucket_of(Time at) { return static_cast<std::uint64_t>(at / kWidth); }
  void fill_current();

  std::vector<std::vector<Event>> buckets_;
  std::vector<Event> current_;  // the next one last
  std::vector<Event> later_;    // heap
  std::uint64_t current_bucket_ = 0;
  std::uint64_t next_order_ = 0;
  std::size_t count_ = 0;
};

}  // namespace gw::sim::overlay_simulation
