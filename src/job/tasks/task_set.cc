#include "job/tasks/task_set.h"

#include <algorithm>

namespace gw::job {

bool TaskSet::contains(std::uint32_t task) const {
  auto after = ranges_.upper_bound(task);
  return after != ranges_.begin() && task < (--after)->second;
}

void TaskSet::add(TaskSpan span) {
  if (span.count == 0) return;
  std::uint32_t first = span.first, end = span.first + span.count;
  auto next = ranges_.upper_bound(first);
  if (next != ranges_.begin() && std::prev(next)->second >= first) --next;
  while (next != ranges_.end() && next->first <= end) {
    first = std::min(first, next->first);
    end = std::max(end, next->second);
    size_ -= next->second - next->first;
    next = ranges_.erase(next);
  }
  ranges_.emplace_hint(next, first, end);
  size_ += end - first;
}

std::size_t TaskSet::remove(TaskSpan span) {
  const std::uint32_t end = span.first + span.count;
  const std::size_t before = size_;
  auto next = ranges_.upper_bound(span.first);
  if (next != ranges_.begin() && std::prev(next)->second > span.first) --next;
  while (next != ranges_.end() && next->first < end) {
    const auto [range_first, range_end] = *next;
    next = ranges_.erase(next);
    size_ -= range_end - range_first;
    if (range_first < span.first) {
      ranges_.emplace(range_first, span.first);
      size_ += span.first - range_first;
    }
    if (range_end > end) {
      ranges_.emplace(end, range_end);
      size_ += range_end - end;
    }
  }
  return before - size_;
}

std::optional<TaskSpan> TaskSet::take_first(std::size_t most) {
  if (empty() || most == 0) return std::nullopt;
  const auto [first, end] = *ranges_.begin();
  const TaskSpan taken{first, static_cast<std::uint32_t>(std::min<std::size_t>(most, end - first))};
  remove(taken);
  return taken;
}

std::optional<TaskSpan> TaskSet::last(std::size_t most) const {
  if (empty() || most == 0) return std::nullopt;
  const auto [first, end] = *ranges_.rbegin();
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(most, end - first));
  return TaskSpan{end - count, count};
}

void TaskSet::clear() {
  ranges_.clear();
  size_ = 0;
}

std::vector<TaskSpan> TaskSet::within(TaskSpan span) const {
  std::vector<TaskSpan> list;
  const std::uint32_t end = span.first + span.count;
  auto next = ranges_.upper_bound(span.first);
  if (next != ranges_.begin()) --next;
  for (; next != ranges_.end() && next->first < end; ++next) {
    const std::uint32_t from = std::max(next->first, span.first), to = std::min(next->second, end);
    if (from < to) list.push_back({from, to - from});
  }
  return list;
}

std::vector<TaskSpan> TaskSet::spans() const {
  std::vector<TaskSpan> list;
  for (const auto& [first, end] : ranges_) list.push_back({first, end - first});
  return list;
}

}  // namespace gw::job
