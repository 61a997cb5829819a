#pragma once
// What will happen in an overlay simulation, in order.

#include <cstdint>
#include <vector>

#include "outcome.h"

namespace gw::sim::overlay_simulation {

// A plain value: there are tens of millions of them in a run.
struct Event {
  enum class Kind : std::uint8_t { tick, deliver, dial_arrives, dial_over, unreachable, broken, reset, happening };
  Time at{0};
  std::uint64_t order = 0;  // among those of one moment: as they were pushed
  std::uint32_t host = 0;
  std::uint32_t slot = 0;  // what it is about; depends on the kind
  Kind kind = Kind::tick;

  friend bool operator>(const Event& a, const Event& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
};

// A calendar: a bucket for each of the next milliseconds, of which only the current one is in order, and a heap for what is far away.
class EventQueue {
 public:
  EventQueue();

  // REQUIRES: not before the last event popped.
  void push(Event event);
  bool empty() const { return count_ == 0; }
  // REQUIRES: !empty().
  Time next_time();
  Event pop();
  // What comes that many events after the next, unless another is pushed in between; nullptr: not known yet.
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
