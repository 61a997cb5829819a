#include "node/jobs/job_history.h"

#include <algorithm>

namespace gw::node {

using job::ThreadId;

JobState state_of(const wire::pb::JobRecord& record) {
  switch (record.state()) {
    case wire::pb::JobRecord::RUNNING:
      return JobState::running;
    case wire::pb::JobRecord::SUSPENDED:
      return JobState::suspended;
    case wire::pb::JobRecord::CANCELLED:
      return JobState::cancelled;
    default:
      return record.failed() > 0 || record.ended() < record.threads() ? JobState::failed : JobState::done;
  }
}

void JobHistory::on_effect(WallTime now, const job::Effect& effect) {
  const ThreadId thread{effect.thread()};
  output_.add(thread, job::kind_of(effect), job::entry_bytes(effect));
  fresh_ = true;  // somebody may wait for output in the order of its arrival
  if (effect.has_report()) add(now, JobEvent::Report{thread, effect.report()}, effect.report().size());
  if (!effect.has_end()) return;
  const job::Effect::End& end = effect.end();
  const auto task = tasks_ > 1 ? job::task_of_thread(thread, tasks_) : std::nullopt;
  if (task) return add_end(*task, job::exit_code_of(end), end.sentence());
  if (end.reason() == job::Effect::End::EXITED) {
    add(now, JobEvent::ThreadEnded{thread, end.exit_code(), end.sentence()}, end.sentence().size());
  } else {
    add(now, JobEvent::ThreadFailed{thread, end.sentence()}, end.sentence().size());
  }
}

void JobHistory::add_end(std::uint32_t task, std::uint32_t exit_code, const std::string& sentence) {
  ended_.add(task);
  auto& failures = ended_event_.failures;
  if (exit_code != 0 && failures.size() < JobEvent::TasksEnded::kMaxFailures) failures.push_back({task, exit_code, sentence});
}

void JobHistory::on_repeated(WallTime now, const job::RunRepeated& repeated) {
  output_.on_repeated(repeated.thread);
  add(now, JobEvent::TaskRepeated{repeated.thread, repeated.host, job::exit_code_of(repeated.end), repeated.end.sentence()},
      repeated.end.sentence().size());
}

void JobHistory::recall_skipped(const std::vector<job::TaskSpan>& tasks) {
  for (const job::TaskSpan& span : tasks)
    for (std::uint32_t i = 0; i < span.count; ++i) output_.on_ended(job::thread_of_task(span.first + i, tasks_));
}

void JobHistory::on_skipped(WallTime now, const job::TasksSkipped& skipped, std::uint64_t total) {
  recall_skipped(skipped.tasks);
  JobEvent::TasksSkipped event{.skipped = total, .tasks = skipped.tasks, .sentence = skipped.sentence};
  if (event.tasks.size() > JobEvent::TasksEnded::kMaxRanges) event.tasks.resize(JobEvent::TasksEnded::kMaxRanges);
  const std::size_t bytes = event.tasks.size() * sizeof(job::TaskSpan) + event.sentence.size();
  add(now, std::move(event), bytes);
}

void JobHistory::on_failed(WallTime now, const job::ThreadFailed& failed) {
  output_.on_ended(failed.thread);
  fresh_ = true;
  const auto task = tasks_ > 1 ? job::task_of_thread(failed.thread, tasks_) : std::nullopt;
  if (task) return add_end(*task, 1, failed.sentence);
  add(now, JobEvent::ThreadFailed{failed.thread, failed.sentence}, failed.sentence.size());
}

void JobHistory::on_over(WallTime now, const wire::pb::JobRecord& record) {
  output_.on_over();
  end_turn(now, {.ended = record.ended(), .failed = record.failed()});  // the event of the last output comes before Over
  over_ = true;
  add(now, JobEvent::Over{state_of(record), record.exit_code(), record.sentence()}, record.sentence().size());
}

bool JobHistory::end_turn(WallTime now, const Totals& totals) {
  if (!ended_.empty()) {
    JobEvent::TasksEnded event = std::exchange(ended_event_, {});
    event.ended = totals.ended;
    event.failed = totals.failed;
    event.running = totals.running;
    event.hosts = totals.hosts;
    event.tasks = std::exchange(ended_, {}).spans();
    if (event.tasks.size() > JobEvent::TasksEnded::kMaxRanges) event.tasks.resize(JobEvent::TasksEnded::kMaxRanges);
    std::size_t bytes = event.tasks.size() * sizeof(job::TaskSpan);
    for (const auto& failure : event.failures) bytes += sizeof failure + failure.sentence.size();
    add(now, std::move(event), bytes);
  }
  for (const Stream stream : {Stream::output, Stream::errors}) {
    const std::uint64_t size = output_.final_size(stream);
    if (std::exchange(told_[stream], size) != size) add(now, JobEvent::OutputGrew{stream, size});
  }
  return std::exchange(fresh_, false);
}

std::vector<JobEvent> JobHistory::events(std::uint64_t from, std::size_t limit) const {
  std::vector<JobEvent> out;
  auto kept = std::ranges::lower_bound(events_, from, {}, [](const StoredEvent& one) { return one.event.number; });
  for (; kept != events_.end() && out.size() < limit; ++kept) out.push_back(kept->event);
  return out;
}

}  // namespace gw::node
