#include "job/home/task_reports.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/records.h"

namespace gw::job {
namespace {

constexpr std::uint32_t kRunsWithoutBlob = 3;  // of a task, while home lacks a blob that it may need

// Of a run that is repeated: there may be a thousand of them for each task.
Effect with_short_sentence(Effect end) {
  std::string& sentence = *end.mutable_end()->mutable_sentence();
  if (sentence.size() > TaskTable::kMaxSentence) sentence.resize(TaskTable::kMaxSentence);
  return end;
}

}  // namespace

TaskReports::Taken TaskReports::take(Time now, const PeerId& from, const TaskLease::Config& lease, const JobMessage::TaskReport& report,
                                     Actions& out) {
  Taken taken;
  const std::size_t waiting = environment_.plane.table().waiting();
  for (const wire::pb::TaskResult& result : report.results()) take_result(now, from, result, out);
  if (!report.results().empty())
    environment_.claims.find(from)->tasks.on_results(now, lease, static_cast<std::uint64_t>(report.results_size()));
  taken.promoted.assign(report.promoted().begin(), report.promoted().end());
  // A host may name any range any number of times: only the tasks that it holds cost something.
  for (const wire::pb::TaskRange& range : report.returned())
    for (const TaskSpan& held : environment_.claims.find(from)->tasks.held().within({range.first(), range.count()}))
      for (std::uint32_t i = 0; i < held.count; ++i) environment_.plane.give_back(from, held.first + i);
  for (const std::uint32_t task : report.lost()) lose_task(now, from, task, report.failure(), out);
  taken.came_back = !report.returned().empty() || !report.lost().empty();
  taken.refused = taken.came_back && !report.failure().empty() && lost_blobs_.empty();
  if (taken.refused) {
    GW_REACHED("home: a host cannot run tasks");
    environment_.counters.on_lost(from, report.failure());
  }
  taken.came_back = environment_.flow.take_released() || taken.came_back || environment_.plane.table().waiting() > waiting;
  return taken;
}

void TaskReports::take_result(Time now, const PeerId& from, const wire::pb::TaskResult& result, Actions& out) {
  if (result.task() >= environment_.plane.table().size()) return;
  const std::uint64_t id = environment_.manifest.thread_of(result.task()).value();
  for (const Effect& effect : result.effects()) {
    Status fits = effect.thread() == id ? environment_.output.check(effect) : fail(Kind::invalid, "it sent the effects of another task");
    if (fits) fits = environment_.files.check(effect);
    if (fits) continue;
    GW_REACHED("home: the result of a task was refused");
    out.notify(PeerRefused{from, fits.error().detail});
    return lose_task(now, from, result.task(), fits.error().detail, out);
  }
  const bool leased = environment_.plane.take(from, result.task());
  if (!leased && !GW_BUG(61)) return;  // it was recalled, or another host was faster
  const Time run_time = believable(now, from, result.run_time_ns());
  const Effect& end = *result.effects().rbegin();
  const EndFacts facts = facts_of(now, from, result.task(), run_time);
  environment_.placement.on_ended(run_time);
  if (Claim* claim = environment_.claims.find(from)) {
    claim->on_effect(now);
    claim->idle_since = now;
    ++claim->finished;
  }
  if (leased && run_again(result.task(), end, facts, out)) return;
  for (const Effect& effect : result.effects()) {
    if (effect.has_end()) continue;
    if (leased) environment_.files.on_effect(effect, out);
    environment_.append(task_entry(effect), out);
    out.after_disk(Notify{EffectStored{environment_.job, effect}});
  }
  store_end(end, facts, out);
  environment_.counters.on_finished(from);
  if (leased) end_task(from, result.task(), end.end(), out);
}

// No task ran for longer than its host has had the claim: a host that says so would be believed to make progress for years.
Time TaskReports::believable(Time now, const PeerId& from, std::uint64_t run_time_ns) const {
  const Claim* claim = environment_.claims.find(from);
  const Time most = claim == nullptr ? Time(0) : now - claim->since;
  return Time(static_cast<std::int64_t>(std::min(run_time_ns, static_cast<std::uint64_t>(std::max<std::int64_t>(0, most.count())))));
}

EndFacts TaskReports::facts_of(Time now, const PeerId& from, std::uint32_t task, Time run_time) const {
  const TaskTable& table = environment_.plane.table();
  return {.host = from,
          .ended_at = now + environment_.wall_offset,
          .run_time = run_time,
          .attempts = 1 + table.attempts(task) + table.failed_runs(task)};
}

bool TaskReports::run_again(std::uint32_t task, const Effect& end, const EndFacts& facts, Actions& out) {
  TaskTable& table = environment_.plane.table();
  const std::uint32_t retries = environment_.manifest.content().policy().retries();
  if (exit_code_of(end.end()) == 0 || table.failed_runs(task) >= (GW_BUG(121) ? retries + 1 : retries)) return false;
  if (environment_.output.is_half_full()) return false;  // failed runs must not use the room of results
  GW_REACHED("home: a task that failed runs again");
  table.run_again(task, facts.host);
  environment_.append(attempt_entry(with_short_sentence(end), facts), out);
  out.after_disk(Notify{RunRepeated{environment_.job, environment_.manifest.thread_of(task), facts.host, end.end()}});
  return true;
}

void TaskReports::store_end(const Effect& effect, const EndFacts& facts, Actions& out) {
  environment_.append(end_entry(effect, facts), out);
  out.after_disk(Notify{EffectStored{environment_.job, effect}});
}

void TaskReports::end_task(const PeerId& from, std::uint32_t task, const Effect::End& end, Actions& out) {
  TaskTable& table = environment_.plane.table();
  const std::uint32_t code = exit_code_of(end);
  if (code == 0) {
    table.end(task);
    return environment_.flow.on_over(task, TaskFlow::End::well, out);
  }
  table.fail(task, {.exit_code = code, .sentence = end.sentence(), .host = from});
  environment_.flow.on_over(task, TaskFlow::End::badly, out);
  wire::pb::ThreadRecord record;
  record.set_state(wire::pb::ThreadRecord::FAILED);
  record.set_task(task);
  record.set_exit_code(code);
  record.set_sentence(end.sentence());
  record.set_host(from.bytes());
  out.record(RecordKey{.kind = RecordKind::thread, .job = environment_.job, .thread = environment_.manifest.thread_of(task)}.encode(),
             record.SerializeAsString());
}

// The worker died while it ran the task, which may be why; or what the task needs is lost.
void TaskReports::lose_task(Time now, const PeerId& from, std::uint32_t task, const std::string& failure, Actions& out) {
  TaskPlane& plane = environment_.plane;
  std::uint32_t limit = environment_.manifest.content().policy().max_failures();
  if (!lost_blobs_.empty()) limit = limit == 0 ? kRunsWithoutBlob - 1 : std::min(limit, kRunsWithoutBlob - 1);
  if (task >= plane.table().size() || plane.table().attempts(task) < limit || limit == 0) {
    if (plane.give_back(from, task)) plane.table().count_attempt(task);
    return;
  }
  if (!plane.take(from, task)) return;
  Effect effect;
  effect.set_thread(environment_.manifest.thread_of(task).value());
  effect.set_epoch(1);
  effect.set_sequence(1);
  effect.mutable_stream()->set_kind(wire::pb::Stream::HOME);
  effect.mutable_end()->set_reason(Effect::End::TRAPPED);
  effect.mutable_end()->set_sentence(fmt::format("it was lost {} times, the last time: {}", limit + 1, failure));
  store_end(effect, facts_of(now, from, task, Time(0)), out);
  end_task(from, task, effect.end(), out);
}

}  // namespace gw::job
