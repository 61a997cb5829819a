#pragma once
// The events of one job, for users who watch it.

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "job/actions.h"
#include "node/control.h"
#include "node/jobs/output_progress.h"
#include "wire/records.pb.h"

namespace gw::node {

// Remembers the last events of a job and the size of its final output. Home's state of the job (job/home/job_snapshot.h) may be ahead of
// these events, because home notifies an event only when it is durable.
//
// Limits: kMaxEvents and kMaxEventBytes, older events are forgotten. A value without threads.
class JobHistory {
 public:
  static constexpr std::size_t kMaxEvents = 4096;
  static constexpr std::size_t kMaxEventBytes = 4u << 20;

  // Events of this boot of the daemon are numbered from `first_number` on.
  JobHistory(std::uint32_t tasks, OutputProgress output, std::uint64_t first_number)
      : tasks_(tasks), output_(std::move(output)), next_number_(first_number) {}

  // Effects of an earlier boot: counted without an event.
  void recall(const job::StoredEffect& effect) {
    effect.kind == job::EffectKind::attempt ? output_.on_repeated(effect.thread) : output_.add(effect.thread, effect.kind, effect.bytes);
  }
  void recall_failed(job::ThreadId thread) { output_.on_ended(thread); }
  void recall_skipped(const std::vector<job::TaskSpan>& tasks);

  void on_effect(WallTime now, const job::Effect& effect);
  void on_repeated(WallTime now, const job::RunRepeated& repeated);
  void on_skipped(WallTime now, const job::TasksSkipped& skipped, std::uint64_t total);
  void on_failed(WallTime now, const job::ThreadFailed& failed);
  void on_over(WallTime now, const wire::pb::JobRecord& record);
  // All other events.
  template <class Kind>
  void add(WallTime now, Kind kind, std::size_t bytes = 0);
  // How many threads and tasks of the job are over, as its home says.
  struct Totals {
    std::uint64_t ended = 0, failed = 0, running = 0;
    std::uint64_t hosts = 0;
  };
  // Ends a turn: all output of a stream in one turn is one event, and so are all ends of tasks. True if something has changed since the
  // last call.
  bool end_turn(WallTime now, const Totals& totals);

  // The number of the next event.
  std::uint64_t next_number() const { return next_number_; }
  // Whether Over has been notified.
  bool over() const { return over_; }
  std::vector<JobEvent> events(std::uint64_t from, std::size_t limit) const;
  const OutputProgress& output() const { return output_; }

 private:
  struct StoredEvent {
    JobEvent event;
    std::size_t bytes;
  };

  void add_end(std::uint32_t task, std::uint32_t exit_code, const std::string& sentence);

  const std::uint32_t tasks_;
  OutputProgress output_;
  job::TaskSet ended_;                    // since the last turn
  JobEvent::TasksEnded ended_event_;      // of them: the failures
  std::map<Stream, std::uint64_t> told_;  // sizes of the output in the last event
  std::uint64_t next_number_;
  std::deque<StoredEvent> events_;
  std::size_t event_bytes_ = 0;
  bool fresh_ = false;
  bool over_ = false;
};

template <class Kind>
void JobHistory::add(WallTime now, Kind kind, std::size_t bytes) {
  bytes += sizeof(JobEvent);
  events_.push_back({{.number = next_number_++, .at = now, .kind = std::move(kind)}, bytes});
  event_bytes_ += bytes;
  fresh_ = true;
  for (; events_.size() > kMaxEvents || event_bytes_ > kMaxEventBytes; events_.pop_front()) event_bytes_ -= events_.front().bytes;
}

// The state of a job for users.
JobState state_of(const wire::pb::JobRecord& record);

}  // namespace gw::node
