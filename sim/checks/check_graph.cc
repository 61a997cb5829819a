#include <fmt/format.h>

#include "checks/checkers.h"
#include "job/effects/stored_effect.h"

namespace gw::sim {
namespace {

using job::TaskSet;

TaskSet tasks_in(const google::protobuf::RepeatedPtrField<wire::pb::TaskRange>& ranges) {
  TaskSet tasks;
  for (const wire::pb::TaskRange& range : ranges) tasks.add(job::TaskSpan{range.first(), range.count()});
  return tasks;
}

// Calls `use` with each task that has to end before the given one.
template <class Use>
void for_each_before(const job::TaskGraph& graph, std::uint32_t task, const Use& use) {
  for (const std::uint32_t stage : graph.before(graph.stage_of(task))) {
    const job::TaskSpan span = graph.tasks_of(stage);
    for (std::uint32_t i = 0; i < span.count; ++i) use(span.first + i);
  }
}

}  // namespace

TaskSet skipped_tasks(const std::vector<job::EffectEntry>& output) {
  wire::pb::JobRecord details;
  if (output.empty() || output.back().header.kind != job::EffectKind::details || !details.ParseFromString(output.back().bytes)) return {};
  return tasks_in(details.skipped_tasks());
}

Complaint check_graph(const std::vector<job::EffectEntry>& output, const job::Manifest& manifest) {
  const job::TaskGraph& graph = *manifest.graph();
  wire::pb::JobRecord details;
  std::map<std::uint32_t, std::size_t> begun, ended;  // places in the output
  for (std::size_t i = 0; i < output.size(); ++i) {
    const job::StoredEffect& header = output[i].header;
    if (header.kind == job::EffectKind::details && !details.ParseFromString(output[i].bytes)) return "the details cannot be read";
    const auto task = job::task_of_thread(header.thread, manifest.tasks());
    if (!task) continue;
    begun.try_emplace(*task, i);
    if (header.kind == job::EffectKind::end) ended[*task] = i;
  }
  const TaskSet failed = tasks_in(details.failed_tasks()), skipped = tasks_in(details.skipped_tasks());
  for (std::uint32_t task = 0; task < manifest.tasks(); ++task) {
    Complaint wrong;
    bool bad_before = false;
    for_each_before(graph, task, [&](std::uint32_t before) {
      bad_before = bad_before || failed.contains(before) || skipped.contains(before);
      if (begun.contains(task) && (!ended.contains(before) || ended[before] > begun[task]))
        wrong = fmt::format("task {} began before task {} had ended", task, before);
    });
    if (!wrong.empty()) return wrong;
    if (bad_before != skipped.contains(task))
      return fmt::format("task {} is {}, and a task before it has {}failed", task, bad_before ? "not skipped" : "skipped",
                         bad_before ? "" : "not ");
    if (skipped.contains(task) && begun.contains(task)) return fmt::format("task {} is skipped, and has run", task);
  }
  return "";
}

}  // namespace gw::sim
