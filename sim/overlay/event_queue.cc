#include "overlay/event_queue.h"

#include <algorithm>
#include <functional>

#include "base/check.h"

namespace gw::sim::overlay_simulation {
namespace {

void push_heap(std::vector<Event>& heap, const Event& event) {
  heap.push_back(event);
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

Event pop_heap(std::vector<Event>& heap) {
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  const Event event = heap.back();
  heap.pop_back();
  return event;
}

}  // namespace

EventQueue::EventQueue() : buckets_(kBuckets) {}

void EventQueue::push(Event event) {
  event.order = next_order_++;
  ++count_;
  const std::uint64_t bucket = bucket_of(event.at);
  GW_DCHECK(bucket >= current_bucket_ || !current_.empty());
  if (bucket <= current_bucket_)
    current_.insert(std::ranges::upper_bound(current_, event, std::greater<>()), event);
  else if (bucket < current_bucket_ + kBuckets)
    buckets_[bucket % kBuckets].push_back(event);
  else
    push_heap(later_, event);
}

void EventQueue::fill_current() {
  GW_ASSERT(count_ > 0);
  while (current_.empty()) {
    ++current_bucket_;
    current_.swap(buckets_[current_bucket_ % kBuckets]);
    while (!later_.empty() && bucket_of(later_.front().at) == current_bucket_) current_.push_back(pop_heap(later_));
  }
  std::ranges::sort(current_, std::greater<>());
}

Time EventQueue::next_time() {
  if (current_.empty()) fill_current();
  return current_.back().at;
}

Event EventQueue::pop() {
  if (current_.empty()) fill_current();
  --count_;
  const Event event = current_.back();
  current_.pop_back();
  return event;
}

}  // namespace gw::sim::overlay_simulation
