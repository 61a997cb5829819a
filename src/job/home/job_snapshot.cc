#include "job/home/job_snapshot.h"

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

std::vector<ThreadId> in_order(const Manifest& manifest, const ThreadTable& threads) {
  std::vector<ThreadId> order;
  for (std::uint32_t task = 0; task < manifest.tasks(); ++task) order.push_back(manifest.thread_of(task));
  for (const auto& [id, thread] : threads.all())
    if (thread.forked) order.push_back(id);
  return order;
}

wire::pb::JobRecord record_of(const JobProgress& progress, const Manifest& manifest, const ThreadTable& threads,
                              const RecoveryCounters& counters) {
  wire::pb::JobRecord record;
  record.set_state(progress.state);
  record.set_submitted_at_ns(static_cast<std::uint64_t>(progress.submitted_at.count()));
  record.set_ended_at_ns(static_cast<std::uint64_t>(progress.ended_at.count()));
  record.set_stored_bytes(progress.stored_bytes);
  record.set_details_bytes(progress.details_bytes);
  record.set_name(manifest.name());
  record.set_tasks(manifest.tasks());
  record.set_slots(manifest.content().policy().slots());
  record.set_threads(threads.size());
  record.set_failed(threads.failed());
  record.set_ended(threads.ended());
  record.set_exit_code(threads.exit_code());
  *record.mutable_counters() = counters.record();
  if (progress.state != wire::pb::JobRecord::RUNNING) record.mutable_counters()->clear_peers();
  return record;
}

EffectEntry details_of(wire::pb::JobRecord record, const Manifest& manifest, const ThreadTable& threads, const RecoveryCounters& counters) {
  *record.mutable_counters() = counters.record();
  for (const ThreadId id : in_order(manifest, threads)) {
    if (static_cast<std::size_t>(record.some_size()) >= kMaxDetails) break;
    wire::pb::ThreadRecord& one = *record.add_some();
    one = record_of(threads.at(id), 0);
    one.set_id(id.value());
  }
  return details_entry(record.SerializeAsString());
}

JobOver over_of(const JobId& id, const wire::pb::JobRecord& record) {
  return {.job = id,
          .threads = record.threads(),
          .failed = record.failed(),
          .exit_code = record.exit_code(),
          .cancelled = record.state() == wire::pb::JobRecord::CANCELLED};
}

namespace {

Reason reason_of(const HomeThread& thread, Reason no_slot) {
  if (const auto* waiting = std::get_if<HomeThread::Waiting>(&thread.state)) {
    if (no_slot == Reason::suspended) return no_slot;
    if (waiting->accuser) return Reason::host_blames;
    return waiting->keeper_missing != kNever ? Reason::keeper_away : no_slot;
  }
  if (const HomeThread::Placed* placed = thread.placed()) {
    if (placed->keeper_missing != kNever) return Reason::keeper_away;
    if (placed->keeper_stalled) return Reason::keeper_refuses;
    if (placed->start_state < wire::pb::JobMessage::BEGINNING) return Reason::starting;
  }
  return Reason::ok;
}

}  // namespace

JobSnapshot snapshot_of(const wire::pb::JobRecord& record, const Manifest& manifest, const ThreadTable& threads, const ClaimTable& claims,
                        Reason no_slot) {
  JobSnapshot snapshot = snapshot_of(record);
  snapshot.waiting = threads.waiting();
  snapshot.running = threads.placed();
  snapshot.threads.clear();
  for (const ThreadId id : in_order(manifest, threads)) {
    snapshot.threads.push_back(snapshot_of(id, record_of(threads.at(id), 0)));
    snapshot.threads.back().reason = reason_of(threads.at(id), no_slot);
  }
  std::map<PeerId, HostSnapshot> peers;
  for (const HostSnapshot& peer : snapshot.peers) peers[peer.peer] = peer;
  for (const auto& [peer, claim] : claims.all()) {
    peers[peer].peer = peer;
    peers[peer].slots = claim.slots;
    peers[peer].running = claim.threads.size();
  }
  snapshot.peers.clear();
  for (const auto& [id, peer] : peers) snapshot.peers.push_back(peer);
  return snapshot;
}

}  // namespace gw::job
