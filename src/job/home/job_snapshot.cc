#include "job/home/job_snapshot.h"

#include <algorithm>

namespace gw::job {

namespace {

ThreadView::State state_of(wire::pb::ThreadRecord::State state) {
  switch (state) {
    case wire::pb::ThreadRecord::PLACED:
      return ThreadView::State::running;
    case wire::pb::ThreadRecord::ENDED:
      return ThreadView::State::ended;
    case wire::pb::ThreadRecord::FAILED:
      return ThreadView::State::failed;
    case wire::pb::ThreadRecord::SKIPPED:
      return ThreadView::State::skipped;
    default:
      return ThreadView::State::waiting;
  }
}

}  // namespace

ThreadView snapshot_of(ThreadId id, const wire::pb::ThreadRecord& record) {
  ThreadView view{.id = id,
                  .state = state_of(record.state()),
                  .epoch = record.epoch(),
                  .resumed = record.resumed(),
                  .restarted = record.restarted(),
                  .exit_code = record.exit_code(),
                  .sentence = record.sentence()};
  view.attempts = 1 + record.failures() + record.attempts();
  view.started_at = Time(static_cast<std::int64_t>(record.placed_at_ns()));
  if (!record.forked()) view.task = record.task();
  if (!record.host().empty()) view.host = PeerId::from(record.host());
  return view;
}

JobSnapshot snapshot_of(const wire::pb::JobRecord& record) {
  JobSnapshot snapshot{.record = record, .ended = record.ended(), .failed = record.failed()};
  snapshot.record.clear_manifest();
  snapshot.record.clear_charter();
  snapshot.record.clear_some();
  for (const wire::pb::ThreadRecord& thread : record.some()) snapshot.threads.push_back(snapshot_of(ThreadId{thread.id()}, thread));
  for (const wire::pb::RecoveryCountersRecord::Peer& peer : record.counters().peers())
    snapshot.peers.push_back({.peer = PeerId::from(peer.peer()),
                              .finished = peer.finished(),
                              .lost = peer.lost(),
                              .taken = peer.taken(),
                              .failure = peer.failure()});
  return snapshot;
}

namespace {

wire::pb::ThreadRecord record_of(const TaskTable& tasks, std::uint32_t task) {
  using wire::pb::ThreadRecord;
  ThreadRecord record;
  record.set_task(task);
  switch (tasks.state(task)) {
    case TaskTable::State::waiting:
    case TaskTable::State::thread:
      break;
    case TaskTable::State::leased:
      record.set_state(ThreadRecord::PLACED);
      record.set_epoch(1);
      break;
    case TaskTable::State::over:
      record.set_state(ThreadRecord::ENDED);
      record.set_epoch(1);
      break;
  }
  if (tasks.skipped_tasks().contains(task)) {
    record.set_state(ThreadRecord::SKIPPED);
    record.set_epoch(0);
  }
  if (const TaskFailure* failure = tasks.failure(task)) {
    record.set_state(ThreadRecord::FAILED);
    record.set_exit_code(failure->exit_code);
    record.set_sentence(failure->sentence);
    if (failure->host) record.set_host(failure->host->bytes());
  }
  return record;
}

// Calls `take` with the id and the record of at most kMaxDetails tasks and threads: failed tasks of a large array first, because people
// look for them, then tasks in their order, then forked threads by id.
template <class Take>
void for_each_in_order(const Manifest& manifest, const ThreadTable& threads, const TaskTable& tasks, const Take& take) {
  std::size_t left = kMaxDetails;
  const auto take_task = [&](std::uint32_t task) {
    const ThreadId id = manifest.thread_of(task);
    const HomeThread* thread = threads.find(id);
    take(id, thread != nullptr ? record_of(*thread, 0) : record_of(tasks, task), thread);
    --left;
  };
  const bool large = manifest.selected_count() > kMaxDetails;
  if (large)
    for (auto failed = tasks.failures().begin(); failed != tasks.failures().end() && left > 0; ++failed) take_task(failed->first);
  for (const TaskSpan& span : manifest.selected())
    for (std::uint32_t task = span.first; task < span.first + span.count && left > 0; ++task)
      if (!large || tasks.failure(task) == nullptr) take_task(task);
  for (const auto& [id, thread] : threads.all()) {
    if (!thread.forked) continue;
    if (left == 0) return;
    take(id, record_of(thread, 0), &thread);
    --left;
  }
}

}  // namespace

wire::pb::JobRecord record_of(const JobProgress& progress, const Manifest& manifest, const ThreadTable& threads, const TaskTable& tasks,
                              const RecoveryCounters& counters) {
  wire::pb::JobRecord record;
  record.set_state(progress.state);
  record.set_submitted_at_ns(static_cast<std::uint64_t>(progress.submitted_at.count()));
  record.set_ended_at_ns(static_cast<std::uint64_t>(progress.ended_at.count()));
  record.set_stored_bytes(progress.stored_bytes);
  record.set_details_bytes(progress.details_bytes);
  record.set_name(manifest.name());
  record.set_program(manifest.program());
  record.set_retried(progress.retried);
  record.set_sentence(progress.sentence);
  record.set_tasks(manifest.tasks());
  record.set_selected(manifest.selected_count());
  const wire::pb::Manifest::Policy& policy = manifest.content().policy();
  record.set_slots(policy.slots());
  if (policy.has_needs()) *record.mutable_needs() = policy.needs();
  record.set_place(policy.place());
  record.set_min_slots(policy.min_slots());
  record.set_on_failure(policy.on_failure());
  record.set_job_time_ns(policy.job_time_ns());
  record.set_threads(threads.size() + tasks.selected() - tasks.threads());
  record.set_failed(threads.failed() + tasks.failed());
  record.set_skipped(tasks.skipped());
  record.set_ended(threads.ended() + tasks.ended());
  record.set_exit_code(std::max(threads.exit_code(), tasks.exit_code()));
  if (!progress.sentence.empty()) record.set_exit_code(std::max(record.exit_code(), 1u));  // it stopped early
  if (!progress.failure.empty()) {
    record.set_sentence(progress.failure);
    record.set_failed(record.threads());
    record.set_exit_code(1);
  }
  *record.mutable_counters() = counters.record();
  if (progress.state != wire::pb::JobRecord::RUNNING) record.mutable_counters()->clear_peers();
  return record;
}

namespace {

void write_ranges(const TaskSet& tasks, google::protobuf::RepeatedPtrField<wire::pb::TaskRange>& ranges) {
  for (const TaskSpan& span : tasks.spans()) {
    wire::pb::TaskRange& range = *ranges.Add();
    range.set_first(span.first);
    range.set_count(span.count);
  }
}

}  // namespace

EffectEntry details_of(wire::pb::JobRecord record, const Manifest& manifest, const ThreadTable& threads, const TaskTable& tasks,
                       const RecoveryCounters& counters) {
  *record.mutable_counters() = counters.record();
  *record.mutable_manifest() = manifest.content().SerializeAsString();
  TaskSet failed = tasks.failed_tasks(), unfinished = tasks.unfinished_tasks();
  for (const auto& [id, thread] : threads.all()) {
    if (thread.forked) continue;
    if (std::holds_alternative<HomeThread::Failed>(thread.state)) failed.add(thread.task);
    if (!thread.over()) unfinished.add(thread.task);
  }
  write_ranges(failed, *record.mutable_failed_tasks());
  write_ranges(unfinished, *record.mutable_unfinished_tasks());
  write_ranges(tasks.skipped_tasks(), *record.mutable_skipped_tasks());
  for_each_in_order(manifest, threads, tasks, [&](ThreadId id, wire::pb::ThreadRecord one, const HomeThread*) {
    one.set_id(id.value());
    *record.add_some() = std::move(one);
  });
  return details_entry(record.SerializeAsString());
}

std::size_t running_tasks(const Claim& claim) {
  const std::size_t free = claim.slots - std::min<std::size_t>(claim.slots, claim.threads.size());
  return std::min(free, claim.tasks.held().size());
}

std::size_t running_in(const ThreadTable& threads, const TaskTable& tasks, const ClaimTable& claims) {
  const std::size_t placed = threads.placed();
  return placed + std::min<std::size_t>(tasks.leased(), claims.slots() - std::min<std::size_t>(claims.slots(), placed));
}

JobOver over_of(const JobId& id, const wire::pb::JobRecord& record) {
  return {.job = id,
          .threads = record.threads(),
          .failed = record.failed(),
          .exit_code = record.exit_code(),
          .cancelled = record.state() == wire::pb::JobRecord::CANCELLED,
          .sentence = record.sentence()};
}

namespace {

Explanation reason_of(const HomeThread& thread, const Explanation& no_slot) {
  if (const auto* waiting = std::get_if<HomeThread::Waiting>(&thread.state)) {
    if (no_slot.reason == Reason::suspended) return no_slot;
    if (waiting->accuser) return Reason::host_blames;
    return waiting->keeper_missing != kNever ? Explanation(Reason::keeper_away) : no_slot;
  }
  if (const HomeThread::Placed* placed = thread.placed()) {
    if (placed->keeper_missing != kNever) return Reason::keeper_away;
    if (placed->keeper_stalled) return Reason::keeper_refuses;
    if (placed->start_state < wire::pb::JobMessage::BEGINNING) return Reason::starting;
  }
  return Reason::ok;
}

}  // namespace

ThreadView view_of_thread(ThreadId id, const HomeThread& thread, const Explanation& no_slot) {
  ThreadView view = snapshot_of(id, record_of(thread, 0));
  view.why = reason_of(thread, no_slot);
  return view;
}

namespace {

std::vector<WaitCount> waits_in(const HomeTables& tables) {
  std::map<Explanation, std::uint64_t> counts;
  for (const auto& [id, thread] : tables.threads.all()) ++counts[reason_of(thread, tables.no_slot)];
  if (tables.tasks.waiting() > 0) counts[tables.no_slot] += tables.tasks.waiting();
  if (!tables.tasks.held_tasks().empty()) counts[Reason::tasks_before] += tables.tasks.held_tasks().size();
  std::uint64_t next = 0;
  for (const auto& [peer, claim] : tables.claims.all()) next += claim.tasks.held().size() - running_tasks(claim);
  if (next > 0) counts[Reason::next_at_host] += next;
  std::vector<WaitCount> waits;
  for (const auto& [why, count] : counts)
    if (why.reason != Reason::ok) waits.push_back({why, count});
  return waits;
}

}  // namespace

JobSnapshot snapshot_of(const wire::pb::JobRecord& record, const Manifest& manifest, const HomeTables& tables) {
  JobSnapshot snapshot = snapshot_of(record);
  snapshot.running = running_in(tables.threads, tables.tasks, tables.claims);
  snapshot.waiting = tables.threads.unfinished() + tables.tasks.unfinished() - snapshot.running;
  snapshot.threads.clear();
  for_each_in_order(manifest, tables.threads, tables.tasks, [&](ThreadId id, const wire::pb::ThreadRecord& one, const HomeThread* thread) {
    ThreadView& view = snapshot.threads.emplace_back(snapshot_of(id, one));
    if (thread != nullptr) {
      view.why = reason_of(*thread, tables.no_slot);
    } else if (view.state == ThreadView::State::waiting) {
      view.why = tables.tasks.held_tasks().contains(one.task()) ? tables.flow.why_held(one.task()) : tables.no_slot;
    }
    if (manifest.graph() && view.task) view.name = manifest.graph()->name_of_task(*view.task);
  });
  snapshot.waits = waits_in(tables);
  snapshot.absent = tables.absent;
  std::map<PeerId, HostSnapshot> peers;
  for (const HostSnapshot& peer : snapshot.peers) peers[peer.peer] = peer;
  for (const auto& [peer, claim] : tables.claims.all()) {
    peers[peer].peer = peer;
    peers[peer].slots = claim.slots;
    peers[peer].running = claim.threads.size() + running_tasks(claim);
  }
  snapshot.peers.clear();
  for (const auto& [id, peer] : peers) snapshot.peers.push_back(peer);
  return snapshot;
}

}  // namespace gw::job
