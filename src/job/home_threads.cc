// What hosts say about threads, and what home does about it.

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/home.h"
#include "job/records.h"

namespace gw::job {
namespace {

const JobMessage::Effects::Child* born_in(const JobMessage::Effects& message, std::uint64_t child) {
  const auto found = std::ranges::find(message.children(), child, &JobMessage::Effects::Child::thread);
  return found == message.children().end() ? nullptr : &*found;
}

}  // namespace

void Home::on_status(Time now, const PeerId& from, const JobMessage::Status& status, Actions& out) {
  const auto found = claims_.find(from);
  if (found == claims_.end() || found->second.claim != status.claim()) {
    GW_REACHED("home: a status of a claim that is not held");
    return send_release(from, status.claim(), out);
  }
  Claim& claim = found->second;
  if (status.number() <= claim.status) return;
  claim.status = status.number();
  claim.last_seen = now;
  std::set<ThreadId> absent;
  for (const ThreadId id : claim.threads)
    if (threads_.at(id).host_acknowledged) absent.insert(id);
  for (const JobMessage::Status::Held& held : status.held()) {
    const ThreadId id{held.thread()};
    const auto thread = threads_.find(id);
    if (thread == threads_.end()) continue;  // a child whose fork is still to come
    if (thread->second.state == State::PLACED && thread->second.host == from && thread->second.epoch == held.epoch()) {
      thread->second.host_acknowledged = true;
      note_start_state(id, thread->second, held.start_state(), out);
      absent.erase(id);
    } else {
      GW_REACHED("home: a zombie was dropped");
      send_drop(from, id, held.epoch(), out);
    }
  }
  for (const ThreadId id : absent) {
    GW_REACHED("home: a host no longer has a thread");
    lose(now, id, status.failure(), out);
  }
  if (!absent.empty()) place_waiting(now, out);
}

void Home::leave_host(Time now, ThreadId id, Thread& thread) {
  placed_.erase(id);
  if (const auto claim = claims_.find(thread.host); claim != claims_.end()) {
    claim->second.threads.erase(id);
    claim->second.idle_since = now;
  }
}

// The host says from where the thread goes on.
void Home::note_start_state(ThreadId id, Thread& thread, JobMessage::StartState start_state, Actions& out) {
  if (thread.state != State::PLACED) return;
  thread.start_state = std::max(thread.start_state, start_state);
  if (thread.start_state < JobMessage::BEGINNING || !std::exchange(thread.placed_again, false)) return;
  const bool from_image = start_state == JobMessage::IMAGE;
  ++(from_image ? thread.resumed : thread.restarted);
  counters_.on_taken(thread.host, from_image ? RecoveryCounters::From::image : RecoveryCounters::From::beginning);
  write(id, thread, out);
  write_counters(out);
  if (from_image) {
    GW_REACHED("home: a thread was resumed");
    out.after_disk(Notify{ThreadResumed{charter_.id(), id, thread.epoch, thread.host}});
  } else {
    GW_REACHED("home: a thread was restarted");
    out.after_disk(Notify{ThreadRestarted{charter_.id(), id, thread.epoch, thread.host}});
  }
}

// The thread's life is over and the thread is not. `failure`: its worker died of something.
void Home::lose(Time now, ThreadId id, std::string_view failure, Actions& out) {
  Thread& thread = threads_.at(id);
  leave_host(now, id, thread);
  thread.state = State::WAITING;
  waiting_.emplace(thread.order, id);
  counters_.on_lost(thread.host);
  write_counters(out);
  const std::uint32_t limit = manifest_.content().policy().max_failures();
  if (!failure.empty() && ++thread.failures > limit && limit > 0)
    return fail_thread(now, id, fmt::format("its worker died {} times, the last time: {}", thread.failures, failure), out);
  write(id, thread, out);
}

void Home::end_thread(Time now, ThreadId id, Thread& thread, Actions& out) {
  if (const auto claim = claims_.find(thread.host); claim != claims_.end()) ++claim->second.finished;
  leave_host(now, id, thread);
  waiting_.erase({thread.order, id});
  --unfinished_;
  write(id, thread, out);
  if (unfinished_ == 0) finish(now, wire::pb::JobRecord::DONE, out);
}

void Home::fail_thread(Time now, ThreadId id, std::string sentence, Actions& out) {
  Thread& thread = threads_.at(id);
  if (thread.state == State::PLACED) send_drop(thread.host, id, thread.epoch, out);
  thread.state = State::FAILED;
  thread.sentence = sentence;
  ++failed_;
  out.after_disk(Notify{ThreadFailed{charter_.id(), id, std::move(sentence)}});
  end_thread(now, id, thread, out);
}

void Home::on_thread_failed(Time now, const PeerId& from, const JobMessage::ThreadName& message, Actions& out) {
  const auto found = threads_.find(ThreadId{message.thread()});
  if (found == threads_.end() || found->second.host != from || found->second.epoch != message.epoch()) return;
  if (found->second.state == State::PLACED) fail_thread(now, found->first, message.failure(), out);
}

void Home::on_effects(Time now, const PeerId& from, const JobMessage::Effects& message, Actions& out) {
  const ThreadId id{message.thread()};
  const auto found = threads_.find(id);
  // A child whose fork is still to come: the host will repeat this.
  if (found == threads_.end()) return;
  Thread& thread = found->second;
  const bool running = thread.state == State::PLACED || thread.state == State::ENDED;
  const bool known_here = running && thread.host == from && thread.epoch == message.epoch();
  if (!known_here && !GW_BUG(4)) {
    GW_REACHED("home: effects of a zombie");
    if (message.epoch() >= thread.epoch && thread.host != from)
      out.notify(PeerRefused{from, fmt::format("it sent effects of thread {}, which it does not host", id.value())});
    return send_drop(from, id, message.epoch(), out);
  }
  if (const auto claim = claims_.find(from); claim != claims_.end()) {
    claim->second.last_seen = now;
    claim->second.status = std::max(claim->second.status, message.status());
  }
  note_start_state(id, thread, message.start_state(), out);
  for (const Effect& effect : message.effects())
    if (!take_effect(now, message, effect, out)) return;
  JobMessage answer;
  answer.mutable_stored()->set_thread(id.value());
  answer.mutable_stored()->set_epoch(message.epoch());
  answer.mutable_stored()->set_sequence(ledger_.stored(id));
  if (GW_BUG(5)) return out.send(from, charter_.id(), std::move(answer));
  out.after_disk(to_peer(from, charter_.id(), std::move(answer)));
}

// False: the thread has failed, or ended before.
bool Home::take_effect(Time now, const JobMessage::Effects& message, const Effect& effect, Actions& out) {
  const ThreadId id{effect.thread()};
  if (effect.sequence() > ledger_.stored(id) + 1) return true;  // one before it was lost, and will be repeated
  const bool next = effect.sequence() == ledger_.stored(id) + 1;
  if (next && threads_.at(id).state != State::PLACED) {
    out.notify(PeerRefused{threads_.at(id).host, fmt::format("it sent an effect of thread {} after its end", id.value())});
    return false;
  }
  if (effect.has_fork() && next && !is_kept(born_in(message, effect.fork().child()))) {
    fail_thread(now, id, "its host did not say which keeper of the job has the child it forked", out);
    return false;
  }
  const auto verdict = ledger_.accept(effect);
  if (!verdict) {
    fail_thread(now, id, verdict.error().detail, out);
    return false;
  }
  if (*verdict == EffectLedger::Verdict::duplicate) {
    GW_REACHED("home: an effect came twice");
    return true;
  }
  out.record(RecordKey{.kind = RecordKind::effect, .job = charter_.id(), .thread = id, .number = effect.sequence()}.encode(),
             effect.SerializeAsString());
  out.after_disk(Notify{EffectStored{charter_.id(), effect}});
  Thread& thread = threads_.at(id);
  if (effect.has_fork()) add_child(message, effect, thread, out);
  if (effect.has_end()) {
    thread.state = State::ENDED;
    thread.exit_code = effect.end().reason() == Effect::End::EXITED ? effect.end().exit_code() : 1;
    thread.sentence = effect.end().sentence();
    counters_.on_finished(thread.host);
    end_thread(now, id, thread, out);
  }
  return true;
}

bool Home::is_kept(const JobMessage::Effects::Child* child) const {
  return child != nullptr && roster_.is_keeper(PeerId::from(child->keeper()));
}

// It runs beside its parent already.
void Home::add_child(const JobMessage::Effects& message, const Effect& effect, const Thread& parent, Actions& out) {
  GW_REACHED("home: a thread was forked");
  const ThreadId id{effect.fork().child()};
  const JobMessage::Effects::Child& born = *born_in(message, id.value());
  // `parent` lies in the map that grows here; references into it stay.
  Thread& child = add_thread(id);
  waiting_.erase({child.order, id});
  placed_.insert(id);
  child.forked = true;
  child.state = State::PLACED;
  child.epoch = effect.epoch();
  child.host = parent.host;
  child.claim = parent.claim;
  child.host_acknowledged = true;
  child.start_state = JobMessage::BEGINNING;
  child.restore = true;
  child.keeper = PeerId::from(born.keeper());
  child.keeper_generation = born.keeper_generation();
  claims_.at(child.host).threads.insert(id);
  write(id, child, out);
}

void Home::send_drop(const PeerId& to, ThreadId thread, std::uint64_t epoch, Actions& out) const {
  JobMessage message;
  message.mutable_drop()->set_thread(thread.value());
  message.mutable_drop()->set_epoch(epoch);
  out.send(to, charter_.id(), std::move(message));
}

// --- keepers

// A keeper that is dead is replaced; so is one that is the host itself, as soon as there is somebody else.
void Home::tend_keeper(Time now, ThreadId id, Thread& thread, Actions& out) {
  if (!thread.host_acknowledged) return;
  if (thread.start_state == JobMessage::NOT_YET) return wait_for_keeper(now, id, thread, out);
  if (thread.start_state == JobMessage::QUEUED || now < thread.change_again) return;
  const LivePeers& live_peers = environment_.live_peers;
  const bool good = live_peers.alive(*thread.keeper) && *thread.keeper != thread.host;
  if (good && !thread.target) return;
  if (!thread.target || !live_peers.alive(*thread.target)) {
    const std::optional<PeerId> target = choose_keeper(thread.host);
    if (!target || *target == *thread.keeper) return;
    GW_REACHED("home: a keeper is being replaced");
    thread.target = target;
    thread.keeper_generation = ++next_keeper_generation_;
  }
  thread.change_again = now + config_.retry;
  send_keeper(id, thread, out);
}

// The host still lacks something that the keeper has.
void Home::wait_for_keeper(Time now, ThreadId id, Thread& thread, Actions& out) {
  out.watched_peers.push_back(*thread.keeper);
  if (readiness(now, thread) != Readiness::never) return;
  GW_REACHED("home: a host waits for a keeper that is gone");
  send_drop(thread.host, id, thread.epoch, out);
  lose(now, id, {}, out);  // and placed without it
}

void Home::send_keeper(ThreadId id, const Thread& thread, Actions& out) const {
  JobMessage message;
  JobMessage::KeeperChange& change = *message.mutable_keeper_change();
  change.set_thread(id.value());
  change.set_epoch(thread.epoch);
  change.set_keeper_generation(thread.keeper_generation);
  change.set_current(thread.keeper->bytes());
  if (thread.target) change.set_target(thread.target->bytes());
  *change.mutable_grant() = grant_of(id, thread, thread.target.value_or(*thread.keeper));
  out.after_disk(to_peer(thread.host, charter_.id(), std::move(message)));
}

void Home::on_keeper_filled(Time now, const PeerId& from, const JobMessage::KeeperFilled& message, Actions& out) {
  const auto found = threads_.find(ThreadId{message.thread()});
  if (found == threads_.end() || found->second.state != State::PLACED) return;
  Thread& thread = found->second;
  if (thread.host != from || thread.epoch != message.epoch()) return;
  if (message.keeper_generation() == thread.keeper_generation && thread.target) {
    GW_REACHED("home: a keeper was replaced");
    thread.keeper = *thread.target;
    thread.target.reset();
    thread.change_again = now;
    write(found->first, thread, out);
  } else if (message.keeper_generation() > thread.keeper_generation) {
    // Somebody this peer had chosen in a life before, and not written down. The host goes on only when one is recorded: once more.
    thread.target = choose_keeper(thread.host);
    thread.keeper_generation = ++next_keeper_generation_;
    thread.change_again = now + config_.retry;
  }
  // The generation stays: it names who may write at the new keeper. An answer that was lost is repeated here.
  send_keeper(found->first, thread, out);
}

void Home::on_ask_kept(const PeerId& from, const JobMessage::AskKept& message, Actions& out) {
  JobMessage answer;
  for (const JobMessage::KeptName& kept : message.threads()) {
    const auto found = threads_.find(ThreadId{kept.thread()});
    if (found == threads_.end()) continue;  // a child whose fork is still to come
    const Thread& thread = found->second;
    const bool ended = thread.state == State::ENDED || thread.state == State::FAILED;
    const bool mine = thread.keeper == from || thread.target == from;
    if (ended || !mine) *answer.mutable_forget()->add_threads() = kept;
  }
  // What home has not written down yet is not a reason to forget.
  if (answer.forget().threads_size() > 0) out.after_disk(to_peer(from, charter_.id(), std::move(answer)));
}

}  // namespace gw::job
