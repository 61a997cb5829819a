#include "job/tasks/task_ranges.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "wire/messages/worker_frames.h"

namespace gw::job {
namespace {

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number >= wire::kMaxTasks) return std::nullopt;
  return number;
}

}  // namespace

Result<TaskSet> parse_tasks(std::string_view text) {
  TaskSet tasks;
  for (std::size_t at = 0, ranges = 0; at <= text.size(); ++ranges) {
    if (ranges >= kMaxRanges) return fail(Kind::invalid, "'{}...' names more than {} ranges of tasks", text.substr(0, 64), kMaxRanges);
    const std::string_view part = text.substr(at, text.find(',', at) - at);
    at += part.size() + 1;
    const std::size_t dash = part.find('-');
    const std::optional<std::uint32_t> first = number_in(part.substr(0, dash));
    const std::optional<std::uint32_t> last = dash == std::string_view::npos ? first : number_in(part.substr(dash + 1));
    if (!first || !last || *last < *first)
      return fail(Kind::invalid, "'{}' names no tasks: write numbers and ranges from 0 to {}, as in 3-9,12", part, wire::kMaxTasks - 1);
    tasks.add({*first, *last - *first + 1});
  }
  return tasks;
}

std::string text_of(const TaskSet& tasks) {
  std::string text;
  for (const TaskSpan& span : tasks.spans()) {
    if (!text.empty()) text += ',';
    text += span.count == 1 ? std::to_string(span.first) : fmt::format("{}-{}", span.first, span.first + span.count - 1);
  }
  return text;
}

}  // namespace gw::job
