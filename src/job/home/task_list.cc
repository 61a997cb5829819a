#include "job/home/task_list.h"

#include <algorithm>
#include <map>

namespace gw::job {
namespace {

// A host runs the tasks that it holds in their order, so the first ones have its slots.
void add_held(const Claim& claim, TaskStates& states) {
  std::size_t slots = running_tasks(claim);
  for (TaskSpan span : claim.tasks.held().spans()) {
    const TaskSpan runs{span.first, static_cast<std::uint32_t>(std::min<std::size_t>(slots, span.count))};
    slots -= runs.count;
    states.running.add(runs);
    states.waiting.add({span.first + runs.count, span.count - runs.count});
  }
}

const PeerId* holder_of(const ClaimTable& claims, std::uint32_t task) {
  for (const auto& [peer, claim] : claims.all())
    if (claim.tasks.holds(task)) return &peer;
  return nullptr;
}

// Why a task that is no thread does not run.
Explanation why_waits(const HomeTables& tables, std::uint32_t task) {
  if (const PeerId* host = holder_of(tables.claims, task)) {
    const TaskLease& lease = tables.claims.find(*host)->tasks;
    const std::vector<TaskSpan> before = lease.held().within({0, task});
    std::size_t count = 0;
    for (const TaskSpan& span : before) count += span.count;
    return {Reason::next_at_host, fmt::format("{} tasks are before it there", count)};
  }
  if (tables.tasks.held_tasks().contains(task)) return tables.flow.why_held(task);
  const std::uint32_t failed = tables.tasks.failed_runs(task);
  if (failed > 0 && tables.no_slot.reason != Reason::suspended) return {Reason::runs_again, fmt::format("{} of its runs failed", failed)};
  return tables.no_slot;
}

ThreadView view_of_task(const HomeTables& tables, const TaskStates& states, ThreadId id, std::uint32_t task) {
  ThreadView view{.id = id, .task = task};
  if (states.skipped.contains(task)) {
    view.state = ThreadView::State::skipped;
    return view;
  }
  view.attempts = 1 + tables.tasks.attempts(task) + tables.tasks.failed_runs(task);
  if (const TaskFailure* failure = tables.tasks.failure(task)) {
    view.exit_code = failure->exit_code;
    view.sentence = failure->sentence;
    view.host = failure->host;
  }
  if (states.failed.contains(task)) {
    view.state = ThreadView::State::failed;
  } else if (tables.tasks.state(task) == TaskTable::State::over) {
    view.state = ThreadView::State::ended;
  } else if (states.running.contains(task)) {
    view.state = ThreadView::State::running;
  }
  const bool leased = tables.tasks.state(task) == TaskTable::State::leased;
  if (const PeerId* host = leased ? holder_of(tables.claims, task) : nullptr) view.host = *host;
  if (view.state == ThreadView::State::waiting) view.why = why_waits(tables, task);
  return view;
}

}  // namespace

TaskSet TaskStates::filtered(TaskFilter filter) const {
  if (filter == TaskFilter::waiting) return waiting;
  if (filter == TaskFilter::running) return running;
  if (filter == TaskFilter::failed) return failed;
  if (filter == TaskFilter::skipped) return skipped;
  TaskSet all;
  for (const TaskSpan& span : selected) all.add(span);
  if (filter == TaskFilter::all) return all;
  for (const TaskSet* others : {&waiting, &running, &failed, &skipped})
    for (const TaskSpan& span : others->spans()) all.remove(span);
  return all;
}

TaskStates states_of(const Manifest& manifest, const HomeTables& tables) {
  TaskStates states{.selected = manifest.selected(),
                    .waiting = tables.tasks.waiting_tasks(),
                    .failed = tables.tasks.failed_tasks(),
                    .skipped = tables.tasks.skipped_tasks(),
                    .graph = manifest.graph()};
  for (const TaskSpan& span : tables.tasks.held_tasks().spans()) states.waiting.add(span);
  for (const auto& [peer, claim] : tables.claims.all()) add_held(claim, states);
  for (const auto& [id, thread] : tables.threads.all()) {
    if (thread.forked) continue;
    if (thread.waits()) states.waiting.add(thread.task);
    if (thread.placed() != nullptr) states.running.add(thread.task);
    if (std::holds_alternative<HomeThread::Failed>(thread.state)) states.failed.add(thread.task);
  }
  // A task that two hosts have runs if one of them runs it.
  for (const TaskSpan& span : states.running.spans()) states.waiting.remove(span);
  return states;
}

Result<TaskStates> states_of(const wire::pb::JobRecord& details) {
  GW_TRY(const Manifest manifest, Manifest::check(as_bytes(details.manifest())));
  TaskStates states{.selected = manifest.selected(), .graph = manifest.graph()};
  const auto read = [&](const auto& ranges, TaskSet& to) {
    for (const wire::pb::TaskRange& range : ranges) {
      if (range.first() >= manifest.tasks() || range.count() > manifest.tasks() - range.first()) return false;
      to.add(TaskSpan{range.first(), range.count()});
    }
    return true;
  };
  if (!read(details.failed_tasks(), states.failed) || !read(details.unfinished_tasks(), states.waiting) ||
      !read(details.skipped_tasks(), states.skipped))
    return fail(Kind::corrupt, "the list of tasks of the job is damaged on this disk");
  return states;
}

namespace {

// The names of the tasks, and why those that are skipped are.
void add_graph(const TaskStates& states, TaskPage& page) {
  if (!states.graph) return;
  const std::vector<std::uint32_t> causes = states.graph->causes(states.failed);
  for (ThreadView& view : page.tasks) {
    view.name = states.graph->name_of_task(*view.task);
    const std::uint32_t cause = causes[states.graph->stage_of(*view.task)];
    if (view.state == ThreadView::State::skipped && cause != TaskGraph::kNone)
      view.sentence = sentence_of_skipped(states.graph->name_of_task(cause));
  }
}

}  // namespace

TaskPage page_of(const TaskStates& states, const TaskQuery& query, std::uint32_t tasks) {
  using State = ThreadView::State;
  const TaskSet matching = states.filtered(query.filter);
  TaskPage page{.count = matching.size()};
  if (query.from >= tasks) return page;
  for (const TaskSpan& span : matching.within({query.from, tasks - query.from})) {
    for (std::uint32_t task = span.first; task < span.first + span.count && !page.next; ++task) {
      if (page.tasks.size() >= query.limit) {
        page.next = task;
        break;
      }
      const State state = states.failed.contains(task)    ? State::failed
                          : states.skipped.contains(task) ? State::skipped
                          : states.waiting.contains(task) ? State::waiting
                          : states.running.contains(task) ? State::running
                                                          : State::ended;
      page.tasks.push_back({.id = thread_of_task(task, tasks), .task = task, .state = state});
    }
    if (page.next) break;
  }
  add_graph(states, page);
  return page;
}

void add_details(const wire::pb::JobRecord& details, TaskPage& page) {
  std::map<ThreadId, ThreadView*> views;
  for (ThreadView& view : page.tasks) views[view.id] = &view;
  for (const wire::pb::ThreadRecord& record : details.some()) {
    const auto found = views.find(ThreadId{record.id()});
    if (found == views.end()) continue;
    ThreadView view = snapshot_of(found->first, record);
    view.state = found->second->state;
    view.name = found->second->name;
    if (view.sentence.empty()) view.sentence = found->second->sentence;
    *found->second = std::move(view);
  }
}

TaskPage list_tasks(const Manifest& manifest, const HomeTables& tables, const TaskQuery& query) {
  const TaskStates states = states_of(manifest, tables);
  TaskPage page = page_of(states, query, manifest.tasks());
  for (ThreadView& view : page.tasks) {
    const HomeThread* thread = tables.threads.find(view.id);
    ThreadView full =
        thread != nullptr ? view_of_thread(view.id, *thread, tables.no_slot) : view_of_task(tables, states, view.id, *view.task);
    full.name = std::move(view.name);
    if (full.sentence.empty()) full.sentence = std::move(view.sentence);
    view = std::move(full);
  }
  return page;
}

}  // namespace gw::job
