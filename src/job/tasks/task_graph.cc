#include "job/tasks/task_graph.h"

#include <fmt/core.h>

#include <algorithm>

#include "wire/messages/worker_frames.h"

namespace gw::job {
namespace {

constexpr std::size_t kMaxName = 64;

Status require(bool condition, const char* rule) {
  if (!condition) return fail(Kind::invalid, "the graph of the tasks is invalid: {}", rule);
  return ok();
}

}  // namespace

bool is_stage_name(std::string_view name) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  return !name.empty() && name.size() <= kMaxName &&
         std::ranges::all_of(name, [&](char c) { return kAllowed.find(c) != std::string_view::npos; });
}

std::string sentence_of_skipped(const std::string& cause) { return fmt::format("skipped because task {} failed", cause); }

std::span<const std::uint32_t> TaskGraph::Lists::of(std::uint32_t stage) const {
  const std::uint32_t first = stage == 0 ? 0 : ends[stage - 1];
  return std::span(stages).subspan(first, ends[stage] - first);
}

Result<TaskGraph> TaskGraph::make(const wire::pb::Manifest::TaskArray::Graph& graph, std::uint32_t tasks) {
  const std::size_t stages = static_cast<std::size_t>(graph.names_size());
  GW_TRY_VOID(require(stages > 0 && stages <= wire::kMaxStages, "it has 1 to 65536 stages"));
  GW_TRY_VOID(
      require(static_cast<std::size_t>(graph.before_size()) <= wire::kMaxGraphEdges, "at most 262144 stages are named as before others"));
  const bool whole = static_cast<std::size_t>(graph.counts_size()) == stages &&
                     static_cast<std::size_t>(graph.before_counts_size()) == stages &&
                     static_cast<std::size_t>(graph.files_are_read_size()) == stages;
  GW_TRY_VOID(require(whole, "its columns have a value for each stage"));
  TaskGraph made;
  std::vector<std::uint32_t> behind_counts(stages, 0);
  std::uint64_t end = 0, edge = 0;
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const int at = static_cast<int>(stage);
    GW_TRY_VOID(require(is_stage_name(graph.names(at)), "the name of a stage has 1 to 64 letters, digits, '.', '-' and '_'"));
    made.names_.push_back(graph.names(at));
    made.files_are_read_.push_back(graph.files_are_read(at) ? 1 : 0);
    end += graph.counts(at);
    GW_TRY_VOID(require(graph.counts(at) > 0 && end <= tasks, "its stages have the tasks of the array"));
    made.ends_.push_back(static_cast<std::uint32_t>(end));
    for (std::uint32_t i = 0; i < graph.before_counts(at); ++i, ++edge) {
      GW_TRY_VOID(require(edge < static_cast<std::uint64_t>(graph.before_size()), "its columns are complete"));
      const std::uint32_t before = graph.before(static_cast<int>(edge));
      GW_TRY_VOID(
          require(before < stage && (i == 0 || before > made.before_.stages.back()), "the stages before one ascend and come before it"));
      made.before_.stages.push_back(before);
      ++behind_counts[before];
    }
    made.before_.ends.push_back(static_cast<std::uint32_t>(edge));
  }
  GW_TRY_VOID(require(end == tasks && edge == static_cast<std::uint64_t>(graph.before_size()), "its stages have the tasks of the array"));
  std::vector<std::uint32_t> next;  // place in behind_
  std::uint32_t sum = 0;
  for (const std::uint32_t count : behind_counts) {
    next.push_back(sum);
    made.behind_.ends.push_back(sum += count);
  }
  made.behind_.stages.resize(sum);
  for (std::uint32_t stage = 0; stage < stages; ++stage)
    for (const std::uint32_t before : made.before(stage)) made.behind_.stages[next[before]++] = stage;
  return made;
}

std::uint32_t TaskGraph::stage_of(std::uint32_t task) const {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(ends_, task) - ends_.begin());
}

TaskSpan TaskGraph::tasks_of(std::uint32_t stage) const {
  const std::uint32_t first = stage == 0 ? 0 : ends_[stage - 1];
  return {first, ends_[stage] - first};
}

std::string TaskGraph::name_of_task(std::uint32_t task) const {
  const std::uint32_t stage = stage_of(task);
  const TaskSpan tasks = tasks_of(stage);
  return tasks.count == 1 ? names_[stage] : fmt::format("{}[{}]", names_[stage], task - tasks.first);
}

std::vector<std::uint32_t> TaskGraph::causes(const TaskSet& failed) const {
  std::vector<std::uint32_t> failed_in(stages(), kNone), causes(stages(), kNone);
  for (const TaskSpan& span : failed.spans())
    for (std::uint32_t i = 0; i < span.count; ++i) {
      std::uint32_t& first = failed_in[stage_of(span.first + i)];
      first = std::min(first, span.first + i);
    }
  for (std::uint32_t stage = 0; stage < stages(); ++stage)
    for (const std::uint32_t earlier : before(stage)) {
      if (causes[stage] != kNone) break;
      causes[stage] = failed_in[earlier] != kNone ? failed_in[earlier] : causes[earlier];
    }
  return causes;
}

}  // namespace gw::job
