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
  JobHistory(std::uint32_t tasks, std::uint64_t first_number) : output_(tasks), next_number_(first_number) {}

  // Effects of an earlier boot: counted without an event.
  void recall(const job::StoredEffect& effect) { output_.add(effect.thread, effect.kind, effect.bytes); }
  void recall_failed(job::ThreadId thread) { output_.on_ended(thread); }

  void on_effect(WallTime now, const job::Effect& effect);
  void on_failed(WallTime now, const job::ThreadFailed& failed);
  void on_over(WallTime now, const wire::pb::JobRecord& record);
  // All other events.
  template <class Kind>
  void add(WallTime now, Kind kind, std::size_t bytes = 0);
  // Ends a turn: all output of a stream in one turn is one event. True if there were events since the last call.
  bool end_turn(WallTime now);

  // Whether Over has been notified.
  bool over() const { return over_; }
  std::vector<JobEvent> events(std::uint64_t from, std::size_t limit) const;
  const OutputProgress& output() const { return output_; }

 private:
  struct StoredEvent {
    JobEvent event;
    std::size_t bytes;
  };

  OutputProgress output_;
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
