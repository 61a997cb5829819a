#include "node/jobs/build_job_view.h"

#include "job/placing/capacity.h"
#include "job/placing/placing_names.h"
#include "node/jobs/job_history.h"

namespace gw::node {
namespace {

std::optional<WallTime> time_of(std::uint64_t ns) {
  if (ns == 0) return std::nullopt;
  return WallTime(std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(ns)));
}

PlacingView placing_of(const wire::pb::JobRecord& record) {
  const std::chrono::nanoseconds job_time(static_cast<std::int64_t>(record.job_time_ns()));
  return {.needs = job::text_of(record.needs()),
          .place = std::string(job::name(record.place())),
          .min_slots = record.min_slots(),
          .on_failure = std::string(job::name(record.on_failure())),
          .job_time = std::chrono::duration_cast<std::chrono::milliseconds>(job_time)};
}

}  // namespace

ThreadCounts counts_of(const wire::pb::JobRecord& record, std::uint64_t running) {
  return {.waiting = record.threads() - running - record.ended() - record.failed() - record.skipped(), .running = running};
}

JobSummary summary_of(const job::JobId& id, const wire::pb::JobRecord& record, const ThreadCounts& counts, EndAnnounced told) {
  const bool over = told == EndAnnounced::over;
  return {.id = id,
          .name = record.name(),
          .program = record.program(),
          .state = over || record.state() == wire::pb::JobRecord::SUSPENDED ? state_of(record) : JobState::running,
          .submitted_at = time_of(record.submitted_at_ns()),
          .ended_at = over ? time_of(record.ended_at_ns()) : std::nullopt,
          .tasks = record.selected() > 0 ? record.selected() : record.tasks(),
          .array = record.tasks(),
          .slots = record.slots(),
          .placing = placing_of(record),
          .threads = record.threads(),
          .waiting = counts.waiting,
          .running = counts.running,
          .ended = record.ended(),
          .failed = record.failed(),
          .skipped = record.skipped(),
          .exit_code = record.exit_code(),
          .counters = {.lost = record.counters().lost(),
                       .resumed = record.counters().resumed(),
                       .restarted = record.counters().restarted(),
                       .peers_lost = record.counters().peers_lost()},
          .retried = record.retried(),
          .sentence = record.sentence(),
          .stored_bytes = record.stored_bytes()};
}

JobView view_of(const job::JobId& id, const job::JobSnapshot& snapshot, EndAnnounced told) {
  JobView view{.summary = summary_of(id, snapshot.record, {snapshot.waiting, snapshot.running}, told),
               .threads = snapshot.threads,
               .waits = snapshot.waits,
               .absent = snapshot.absent};
  for (const job::HostSnapshot& peer : snapshot.peers)
    view.peers.push_back({.id = peer.peer,
                          .slots = peer.slots,
                          .running = peer.running,
                          .finished = peer.finished,
                          .lost = peer.lost,
                          .taken = peer.taken,
                          .failure = peer.failure});
  return view;
}

}  // namespace gw::node
