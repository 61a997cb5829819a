// What home shows, and writes down.

#include <algorithm>

#include "job/home.h"

namespace gw::job {
namespace {

constexpr std::size_t kShownAfterwards = 1000;  // threads of a job that is over

}  // namespace

wire::pb::ThreadRecord Home::record_of(const Thread& thread) const {
  wire::pb::ThreadRecord record;
  record.set_state(thread.state);
  record.set_epoch(thread.epoch);
  record.set_task(thread.task);
  record.set_forked(thread.forked);
  record.set_failures(thread.failures);
  record.set_sentence(thread.sentence);
  record.set_exit_code(thread.exit_code);
  record.set_resumed(thread.resumed);
  record.set_restarted(thread.restarted);
  record.set_placed_again(thread.placed_again);
  record.set_keeper_generation(thread.keeper_generation);
  record.set_restore(thread.restore);
  if (thread.keeper) record.set_keeper(thread.keeper->bytes());
  if (thread.epoch > 0) record.set_host(thread.host.bytes());
  if (const auto claim = claims_.find(thread.host); thread.state == State::PLACED && claim != claims_.end()) {
    record.set_claim(thread.claim);
    record.set_slots(claim->second.slots);
  }
  return record;
}

// Tasks, then forked threads by id.
std::vector<ThreadId> Home::in_order() const {
  std::vector<ThreadId> order;
  for (std::uint32_t task = 0; task < manifest_.tasks(); ++task) order.push_back(manifest_.thread_of(task));
  for (const auto& [id, thread] : threads_)
    if (thread.forked) order.push_back(id);
  return order;
}

// The main thread's, or the worst of an array; not 0 if anything has failed.
std::uint32_t Home::exit_code() const {
  std::uint32_t worst = failed_ > 0 ? 1 : 0;
  for (const auto& [id, thread] : threads_)
    if (!thread.forked) worst = std::max(worst, thread.exit_code);
  return worst;
}

wire::pb::JobRecord Home::record() const {
  wire::pb::JobRecord record;
  record.set_state(state_);
  record.set_submitted_at_ns(static_cast<std::uint64_t>(submitted_at_.count()));
  record.set_ended_at_ns(static_cast<std::uint64_t>(ended_at_.count()));
  record.set_name(manifest_.name());
  record.set_tasks(manifest_.tasks());
  record.set_slots(manifest_.content().policy().slots());
  record.set_threads(threads_.size());
  record.set_failed(failed_);
  record.set_ended(
      static_cast<std::uint64_t>(std::ranges::count_if(threads_, [](const auto& entry) { return entry.second.state == State::ENDED; })));
  record.set_exit_code(exit_code());
  *record.mutable_counters() = counters_.record();
  if (state_ == wire::pb::JobRecord::RUNNING) return record;
  for (const ThreadId id : in_order()) {
    if (static_cast<std::size_t>(record.some_size()) >= kShownAfterwards) break;
    *record.add_some() = record_of(threads_.at(id));
    record.mutable_some()->rbegin()->set_id(id.value());
  }
  return record;
}

// Of a thread that could start anywhere.
Reason Home::why_no_slot() const {
  std::size_t have = 0;
  for (const auto& [peer, claim] : claims_) have += claim.slots;
  if (have >= manifest_.content().policy().slots()) return Reason::job_limit;
  const auto alive = environment_.live_peers.all_alive();
  if (!asked_.empty()) return Reason::slots_asked;
  const bool lent = std::ranges::any_of(alive, [&](const auto& peer) { return peer.free_slots > 0 || claims_.contains(peer.peer); });
  return alive.size() > 1 || lent ? Reason::no_free_slots : Reason::no_peers;
}

JobSnapshot Home::snapshot() const {
  JobSnapshot snapshot = snapshot_of(record());
  snapshot.waiting = waiting_.size();
  snapshot.running = placed_.size();
  snapshot.threads.clear();
  const Reason no_slot = waiting_.empty() ? Reason::ok : why_no_slot();
  for (const ThreadId id : in_order()) {
    const Thread& thread = threads_.at(id);
    snapshot.threads.push_back(snapshot_of(id, record_of(thread)));
    Reason& reason = snapshot.threads.back().reason;
    if (thread.state == State::WAITING) reason = thread.keeper_missing != kNever ? Reason::keeper_away : no_slot;
    if (thread.state == State::PLACED && !thread.host_acknowledged) reason = Reason::starting;
  }
  std::map<PeerId, HostSnapshot> peers;
  for (const HostSnapshot& peer : snapshot.peers) peers[peer.peer] = peer;
  for (const auto& [peer, claim] : claims_) {
    peers[peer].peer = peer;
    peers[peer].slots = claim.slots;
    peers[peer].running = claim.threads.size();
  }
  snapshot.peers.clear();
  for (const auto& [id, peer] : peers) snapshot.peers.push_back(peer);
  return snapshot;
}

}  // namespace gw::job
