#pragma once
// Virtual time: the queue of events of a simulated grid.

#include <cstdint>
#include <functional>
#include <vector>

#include "outcome.h"

namespace gw::sim {

// Events in the order of their time, those of the same time in the order in which they were scheduled. A value without threads.
class Timeline {
 public:
  using Happening = std::function<void()>;

  Time now() const { return now_; }
  std::uint64_t events() const { return events_; }
  std::size_t pending() const { return heap_.size(); }

  // An event with a past time happens now.
  void schedule(Time at, Happening happen);
  void schedule_in(Time wait, Happening happen) { schedule(now_ + wait, std::move(happen)); }
  // Runs events up to `until`, while `go_on` returns true.
  void run_until(Time until, const std::function<bool()>& go_on);

 private:
  struct Event {
    Time at;
    std::uint64_t order;
    Happening happen;
  };
  static bool later(const Event& a, const Event& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }

  std::vector<Event> heap_;  // the earliest in front
  std::uint64_t next_order_ = 0;
  std::uint64_t events_ = 0;
  Time now_{0};
};

}  // namespace gw::sim
