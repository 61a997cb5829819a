#include "timeline.h"

#include <algorithm>

namespace gw::sim {

void Timeline::schedule(Time at, Happening happen) {
  heap_.push_back({std::max(at, now_), next_order_++, std::move(happen)});
  std::ranges::push_heap(heap_, later);
}

void Timeline::run_until(Time until, const std::function<bool()>& go_on) {
  while (!heap_.empty() && heap_.front().at <= until && go_on()) {
    std::ranges::pop_heap(heap_, later);
    const Event event = std::move(heap_.back());
    heap_.pop_back();
    now_ = event.at;
    ++events_;
    event.happen();
  }
}

}  // namespace gw::sim
