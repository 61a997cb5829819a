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
      return record.failed() > 0 ? JobState::failed : JobState::done;
  }
}

void JobHistory::on_effect(WallTime now, const job::Effect& effect) {
  const ThreadId thread{effect.thread()};
  output_.add(thread, job::kind_of(effect), job::entry_bytes(effect));
  if (effect.has_report()) add(now, JobEvent::Report{thread, effect.report()}, effect.report().size());
  if (!effect.has_end()) return;
  if (effect.end().reason() == job::Effect::End::EXITED) {
    add(now, JobEvent::ThreadEnded{thread, effect.end().exit_code(), effect.end().sentence()}, effect.end().sentence().size());
  } else {
    add(now, JobEvent::ThreadFailed{thread, effect.end().sentence()}, effect.end().sentence().size());
  }
}

void JobHistory::on_failed(WallTime now, const job::ThreadFailed& failed) {
  output_.on_ended(failed.thread);
  add(now, JobEvent::ThreadFailed{failed.thread, failed.sentence}, failed.sentence.size());
}

void JobHistory::on_over(WallTime now, const wire::pb::JobRecord& record) {
  output_.on_over();
  end_turn(now);  // the event of the last output comes before Over
  over_ = true;
  add(now, JobEvent::Over{state_of(record), record.exit_code()});
}

bool JobHistory::end_turn(WallTime now) {
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
