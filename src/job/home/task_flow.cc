#include "job/home/task_flow.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {

void TaskFlow::begin(const ThreadTable& threads) {
  if (!manifest_.graph()) return;
  const TaskGraph& graph = *manifest_.graph();
  left_.assign(graph.stages(), 0);
  before_.assign(graph.stages(), 0);
  fates_.assign(graph.stages(), Fate::good);
  TaskSet selected;
  for (const TaskSpan& span : manifest_.selected()) selected.add(span);
  for (std::uint32_t stage = 0; stage < graph.stages(); ++stage) {
    const TaskSpan span = graph.tasks_of(stage);
    for (std::uint32_t task = span.first; task < span.first + span.count; ++task) {
      const TaskTable::State state = tasks_.state(task);
      const HomeThread* thread = state == TaskTable::State::thread ? threads.find(manifest_.thread_of(task)) : nullptr;
      const bool over = thread != nullptr ? thread->over() : state == TaskTable::State::over;
      const bool bad = thread != nullptr ? std::holds_alternative<HomeThread::Failed>(thread->state) : tasks_.failed_tasks().contains(task);
      const bool files_come = over && !bad && graph.files_are_read(stage) && selected.contains(task);
      if (files_come) unlisted_.push_back(task);
      if (!over || files_come) ++left_[stage];
      if (bad) fates_[stage] = Fate::failed;
    }
    for (const std::uint32_t earlier : graph.before(stage)) {
      if (fates_[earlier] != Fate::good && left_[stage] > 0) fates_[stage] = Fate::skipped;
      if (!is_over(earlier)) ++before_[stage];
    }
    if (fates_[stage] == Fate::skipped) {
      tasks_.skip(span);
      left_[stage] = 0;
    } else if (before_[stage] > 0) {
      tasks_.hold(span);
    }
  }
}

void TaskFlow::on_over(std::uint32_t task, End how, Actions& out) {
  if (!manifest_.graph()) return;
  const TaskGraph& graph = *manifest_.graph();
  const std::uint32_t stage = graph.stage_of(task);
  if (how == End::badly && fates_[stage] == Fate::good) {
    fates_[stage] = Fate::failed;
    skip_behind(stage, task);
  }
  if (how == End::badly) files_.drop(task, out);
  if (how == End::badly || !graph.files_are_read(stage) || files_.on_end(task, out)) leave(stage);
}

void TaskFlow::list_files(Actions& out) {
  for (const std::uint32_t task : std::exchange(unlisted_, {}))
    if (files_.on_end(task, out)) on_files_ready(task);
}

// A task of the stage is not waited for any more.
void TaskFlow::leave(std::uint32_t stage) {
  const TaskGraph& graph = *manifest_.graph();
  --left_[stage];
  if (!is_over(stage) || fates_[stage] != Fate::good) return;
  for (const std::uint32_t later : graph.behind(stage)) {
    --before_[later];
    if (fates_[later] == Fate::skipped || (before_[later] > 0 && !GW_BUG(241))) continue;
    GW_REACHED("home: tasks of a graph were released");
    tasks_.release(graph.tasks_of(later));
    released_ = true;
  }
}

// Each stage is skipped once, so all calls together cost O(edges).
void TaskFlow::skip_behind(std::uint32_t stage, std::uint32_t cause) {
  const TaskGraph& graph = *manifest_.graph();
  std::vector<std::uint32_t> open(graph.behind(stage).begin(), graph.behind(stage).end());
  while (!open.empty()) {
    const std::uint32_t next = open.back();
    open.pop_back();
    if (fates_[next] == Fate::skipped) continue;
    GW_REACHED("home: tasks of a graph were skipped");
    fates_[next] = Fate::skipped;
    left_[next] = 0;
    const TaskSpan span = graph.tasks_of(next);
    for (const TaskSpan& held : tasks_.held_tasks().within(span)) newly_skipped_[cause].add(held);
    tasks_.skip(span);
    open.insert(open.end(), graph.behind(next).begin(), graph.behind(next).end());
  }
}

void TaskFlow::tell_skipped(const JobId& job, Actions& out) {
  for (const auto& [cause, tasks] : std::exchange(newly_skipped_, {}))
    out.after_disk(Notify{TasksSkipped{job, tasks.spans(), sentence_of_skipped(manifest_.graph()->name_of_task(cause))}});
}

Explanation TaskFlow::why_held(std::uint32_t task) const {
  constexpr std::size_t kNamed = 3;
  const TaskGraph& graph = *manifest_.graph();
  std::string names;
  std::size_t open = 0;
  for (const std::uint32_t earlier : graph.before(graph.stage_of(task))) {
    if (is_over(earlier) || ++open > kNamed) continue;
    const std::uint32_t count = graph.tasks_of(earlier).count;
    names += names.empty() ? "" : ", ";
    names += graph.name(earlier);
    if (count > 1) names += fmt::format(" ({} of {} tasks)", left_[earlier], count);
  }
  if (open > kNamed) names += fmt::format(" and {} others", open - kNamed);
  return {Reason::tasks_before, "it waits for " + names};
}

}  // namespace gw::job
