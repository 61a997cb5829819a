#pragma once
// Virtual time in an overlay simulation: the future events and their times.

#include <functional>
#include <utility>

#include "overlay/event_queue.h"
#include "overlay/pool.h"

namespace gw::sim::overlay_simulation {

// Events of hosts are plain values, pushed by the part that handles them; a happening changes the world as a whole. Time advances in
// windows of a millisecond: an event pushed in one window for a host happens in the next window at the soonest. A value.
class Agenda {
 public:
  using Happening = std::function<void()>;

  Time now() const { return now_; }
  void set_now(Time now) { now_ = now; }
  // When the next window begins.
  Time next_window() const { return next_window_; }
  void begin_window(Time next) { next_window_ = next; }

  void push(const Event& event) { queue_.push(event); }
  void at(Time when, Happening happening);
  void every(Time period, Time until, const Happening& happening);

  EventQueue& queue() { return queue_; }
  const EventQueue& queue() const { return queue_; }
  Happening take_happening(std::uint32_t slot) { return happenings_.take(slot); }

 private:
  EventQueue queue_;
  Pool<Happening> happenings_;
  Time now_{0};
  Time next_window_{0};
};

}  // namespace gw::sim::overlay_simulation
