#include "job/home/home.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/home/home_messages.h"

namespace gw::job {
namespace {

constexpr std::uint64_t kPageBytes = 64u << 10;

Home::Config with_policy(Home::Config config, const wire::pb::Manifest::Policy& policy) {
  config.tasks.lease.prefetch = !policy.no_prefetch();
  return config;
}

}  // namespace

Home::Home(const Config& config, const Environment& environment, Charter charter, Manifest manifest)
    : config_(with_policy(config, manifest.content().policy())),
      environment_(environment),
      charter_(std::move(charter)),
      manifest_(std::move(manifest)),
      roster_(charter_.id(), environment.key, environment.signer, environment.boot),
      ledger_(EffectLedger::Config{.children = config.children}),
      tasks_(config_.tasks, {charter_.id(), environment.boot, manifest_, claims_}),
      mail_(config_.mail, {charter_.id(), ledger_, manifest_, tasks_.table(), threads_, claims_}),
      files_({charter_.id(), manifest_, claims_, environment_.blobs}),
      flow_(manifest_, tasks_.table(), files_),
      placement_(config.placement, manifest_.content().policy().limits().memory_pages() * kPageBytes),
      keepers_(config.keepers, {charter_.id(), environment.boot, environment.live_peers, roster_, threads_, environment.rng}),
      losses_(manifest_),
      gang_(config.gang, manifest_.content().policy().min_slots()),
      suspension_(charter_.id()),
      policy_(manifest_),
      predecessors_(manifest_, environment.course_of),
      run_time_(manifest_),
      records_(config.output, {charter_, manifest_, threads_, tasks_.table(), claims_, counters_, losses_}),
      slots_(config.slots, {charter_, manifest_, environment.live_peers, roster_, threads_, tasks_.table(), claims_, placement_,
                            environment.signer, environment.boot, environment.history, losses_, gang_, records_, environment.rng}),
      reports_({charter_.id(), environment.wall_offset, manifest_, tasks_, flow_, files_, claims_, placement_, counters_, records_.output(),
                [this](EffectEntry entry, Actions& out) { records_.append(std::move(entry), out); }}) {
  const bool has_images = manifest_.content().policy().checkpoint_every_ns() > 0;
  if (manifest_.content().standard_input())
    input_.emplace(config.input, charter_.id(), manifest_.thread_of(0),
                   has_images ? StandardInput::Images::some : StandardInput::Images::none);
  if (manifest_.on_task_plane()) return;
  for (const TaskSpan& span : manifest_.selected())
    for (std::uint32_t task = span.first; task < span.first + span.count; ++task) add_thread(manifest_.thread_of(task)).task = task;
}

Status Home::recover(Time now, const HomeRecords& records) {
  GW_REACHED("home: a job was recovered");
  counters_ = RecoveryCounters(records.counters);
  if (input_) GW_TRY_VOID(input_->recover(records.input));
  GW_TRY_VOID(mail_.recover(records.mail, records.watches));
  counters_.forget_finished();  // the records of the threads and the output tell
  GW_TRY_VOID(HomeRecovery(now, records, {manifest_, ledger_, threads_, tasks_.table(), claims_, roster_, counters_}).run());
  files_.recover(records);
  flow_.begin(threads_);
  records_.recover(Time(static_cast<std::int64_t>(records.job.submitted_at_ns())), records.effects);
  const Time alive_at(static_cast<std::int64_t>(records.counters.alive_at_ns()));
  run_time_.recover(now + environment_.wall_offset, alive_at, environment_.self, threads_);
  losses_.recover(records.counters.most_slots(), claims_.slots());
  tick_at_ = now;
  if (!records.threads.empty() || !records.effects.empty()) {  // it has begun
    predecessors_.clear();
    gang_.recover_begun();
  }
  if (records.suspended) suspension_.recover(threads_.placed());
  return ok();
}

void Home::finish(Time now, wire::pb::JobRecord::State state, Actions& out, std::string failure) {
  suspension_.clear(out);
  records_.end(now + environment_.wall_offset, state, std::move(failure), out);
  files_.remove_records(out);
  if (input_) input_->clear(out);
  mail_.remove_records(out);
  slots_.release_all(out);
  for (const auto& [peer, counts] : counters_.peers()) environment_.history.note_work(peer, counts.finished, counts.lost);
  over_ = true;
}

bool Home::finish_if_done(Time now, Actions& out) {
  flow_.tell_skipped(charter_.id(), out);
  const std::optional<std::string> stops = policy_.stops(failed(), unfinished());
  if (unfinished() > 0 && !stops) return false;
  if (stops) GW_REACHED("home: a job stopped because of failed tasks");
  stop(now, stops.value_or(""), out);
  return true;
}

void Home::end_overdue(Time now, Actions& out) {
  const Time wall = now + environment_.wall_offset;
  while (const auto id = run_time_.take_due(wall)) {
    GW_REACHED("home: a thread has used up its time");
    const HomeThread& thread = threads_.at(*id);
    out.after_disk(to_peer(thread.placed()->host, charter_.id(), drop_message(*id, thread.epoch)));
    take_effect(now, {}, run_time_.end_of(*id, thread, ledger_.stored(*id, wire::kHomeStream) + 1), out);
    if (over_) return;
  }
  if (run_time_.is_record_due(wall)) records_.write_alive(wall, out);
  if (auto late = policy_.out_of_time(wall - records_.submitted_at(), unfinished())) stop(now, *std::move(late), out);
}

// --- suspension

// The thread's last image is stable, and its effects are stored: nothing is repeated when it goes on from there.
void Home::on_suspended(Time now, const PeerId& from, const JobMessage::ThreadName& name, Actions& out) {
  const ThreadId id{name.thread()};
  out.after_disk(to_peer(from, charter_.id(), drop_message(id, name.epoch())));
  const HomeThread* thread = on_record(id, from, name.epoch());
  if (thread == nullptr) return;
  GW_REACHED("home: a thread was suspended");
  const Claim* claim = claims_.find(from);
  note_source(id, name.restored_from(), out);
  const bool unasked = !thread->placed()->suspend_asked && claim != nullptr && !claim->draining;
  leave_host(now, id, from);
  threads_.wait(id);
  if (unasked) {
    GW_REACHED("home: a host suspends a thread unasked");
    threads_.avoid(id, from);
    slots_.on_refused(from);
  }
  records_.write(id, out);
  check_suspended(out);
  place_ready(now, out);
}

void Home::on_tick(Time now, Actions& out) {
  if (over_ || now < next_deadline()) return;
  while (const auto id = threads_.take_due(now)) {
    on_due(now, *id, out);
    if (over_) return;
  }
  if (now < tick_at_) return seek(now, out);
  tick_at_ = now + config_.retry / 2;
  end_overdue(now, out);
  if (over_) return;
  // All claims end before the first thread is placed again: the next host may be one whose claim ends too.
  for (const PeerId& peer : slots_.tend(now, out)) lose_claim(now, peer, out);
  if (over_) return;
  keepers_.unpark_returned();
  place_ready(now, out);
  flow_.list_files(out);
  if (const Status follows = predecessors_.look(); !follows) return finish(now, wire::pb::JobRecord::DONE, out, follows.error().detail);
  if (may_seek()) advance_gang(now, out);
  if (may_seek() && gang_.begun()) tasks_.on_tick(now, out);
  seek(now, out);
}

// --- claims

void Home::on_offer(Time now, const PeerId& from, const JobMessage::Offer& offer, Actions& out) {
  if (suspension_.wanted()) return out.send(from, charter_.id(), release_message(offer.claim()));
  slots_.on_offer(now, from, offer, out);
  use_claimed(now, out);
}

void Home::on_no_claim(Time now, const PeerId& from, const JobMessage::ClaimName& name, Actions& out) {
  const Claim* held = claims_.find(from);
  if (held == nullptr || held->claim != name.claim()) return;
  GW_REACHED("home: a host had lost its claim");
  losses_.on_lost(from, *held);
  lose_claim(now, from, out);
  place_ready(now, out);
}

void Home::on_peer_lost(Time now, const PeerId& peer, Actions& out) {
  slots_.on_peer_lost(peer);
  threads_.set_kept_due(peer, now);
  const Claim* claim = claims_.find(peer);
  if (claim == nullptr) return;
  GW_REACHED("home: a host was lost");
  losses_.on_lost(peer, *claim);
  lose_claim(now, peer, out);
  place_ready(now, out);
}

void Home::lose_claim(Time now, const PeerId& peer, Actions& out) {
  if (claims_.find(peer) == nullptr) return;  // given back with all others, when the job was suspended
  const std::set<ThreadId> threads = claims_.find(peer)->threads;
  if (!threads.empty()) {
    counters_.on_peer_lost();
    out.notify(HostLost{charter_.id(), peer, threads.size()});
  }
  for (const ThreadId id : threads) lose(now, id, {}, out);
  if (claims_.find(peer) != nullptr) {
    tasks_.lose(peer);
    slots_.on_claim_lost(peer);
    claims_.remove(peer);
  }
  if (auto end = losses_.ends(unfinished())) return stop(now, *std::move(end), out);
  if (may_run()) tasks_.feed_all(now, out);
}

// --- placing

// Places as many threads as there is room for; called whenever a host gets room or a thread becomes ready.
void Home::place_ready(Time now, Actions& out) {
  if (over_ || !may_run()) return;
  if (GW_BUG(58) && tick_at_ != now + config_.retry / 2) return;  // outside of on_tick()
  while (const auto retry = Placement::next_doubted(threads_, claims_))
    if (!park_without_keeper(now, retry->thread)) place(now, retry->thread, retry->host, out);
  while (!threads_.ready().empty()) {
    const ThreadId id = threads_.ready().begin()->second;
    if (park_without_keeper(now, id)) continue;
    const bool plenty = threads_.ready().size() > 2 * claims_.size();
    const std::optional<PeerId> host = placement_.host_for(threads_.at(id), claims_, plenty);
    if (!host) return;
    place(now, id, *host, out);
  }
}

void Home::place(Time now, ThreadId id, const PeerId& host, Actions& out, Start start) {
  HomeThread& thread = threads_.at(id);
  if (thread.epoch > 0 && !GW_BUG(3)) {
    GW_REACHED("home: a thread was placed again");
    thread.epoch = ledger_.next_epoch(id).value();
    thread.placed_again = true;
  } else if (thread.epoch == 0) {
    thread.epoch = ledger_.epoch(id);
    out.after_disk(Notify{ThreadPlaced{charter_.id(), id, thread.epoch, host}});
  }
  claims_.attach(host, id);
  HomeThread::Placed& placed = threads_.place(id, host, claims_.find(host)->claim, now);
  placed.stored = ledger_.stored(id);
  placed.restore = thread.kept;
  placed.promoted = start == Start::promoted;
  if (thread.placed_first == Time(0)) thread.placed_first = now + environment_.wall_offset;
  keepers_.assign(now, id, host);
  // From now on the keeper may have something of it.
  thread.kept = true;
  thread.preferred.reset();
  records_.write(id, out);
  send_assign(now, id, out);
}

// Home repeats the same assignment, in the same epoch, until a status of the host names the thread: a new epoch for each late answer would
// make a loaded host start the thread over and over.
void Home::send_assign(Time now, ThreadId id, Actions& out) {
  const HomeThread& thread = threads_.at(id);
  const HomeThread::Placed& placed = *thread.placed();
  out.after_disk(to_peer(placed.host, charter_.id(), assign_message(id, thread, keepers_.grant(id, thread, thread.keepers))));
  threads_.set_due(id, now + config_.retry);
}

// A thread may start from its beginning if home has stored no effect of it, or if it has no determinants and so repeats the same effects. A
// forked thread has no beginning of its own, and input that an image contains was dropped here.
bool Home::may_begin_anew(ThreadId id) const {
  const HomeThread& thread = threads_.at(id);
  if (GW_BUG(15)) return !thread.forked;
  return !thread.forked && (ledger_.stored(id).empty() || thread.determinants == 0) && (!input_ || input_->has_beginning(id)) &&
         mail_.has_beginning(id);
}

void Home::on_due(Time now, ThreadId id, Actions& out) {
  HomeThread& thread = threads_.at(id);
  if (const auto* waiting = std::get_if<HomeThread::Waiting>(&thread.state)) {
    const bool anew = !waiting->accuser;  // else only the accuser has room
    threads_.wait(id);
    if (anew) {
      GW_REACHED("home: a thread begins anew because its keeper is gone too");
      threads_.begin_anew(id);
    }
    return place_ready(now, out);
  }
  HomeThread::Placed& placed = *thread.placed();
  if (suspension_.wanted()) {
    threads_.set_due(id, now + config_.retry);
    if (threads_.unfinished() == 1 && keepers_.bring_home(now, id, environment_.self, out)) return;
    placed.suspend_asked = true;
    // A host that never got the assignment answers that it does not have the thread.
    return out.send(placed.host, charter_.id(), suspend_message(id, thread.epoch));
  }
  if (!placed.acknowledged) {
    if (GW_BUG(56)) {
      lose(now, id, {}, out);
      return place_ready(now, out);
    }
    GW_REACHED("home: an assignment was repeated");
    return send_assign(now, id, out);
  }
  if (placed.start_state >= JobMessage::BEGINNING) {
    if (keepers_.tend(now, id, out)) records_.write(id, out);
    return;
  }
  tend_waiting_host(now, id, out);
}

// The host has the thread, and lacks something that the keepers have, or a slot.
void Home::tend_waiting_host(Time now, ThreadId id, Actions& out) {
  HomeThread& thread = threads_.at(id);
  HomeThread::Placed& placed = *thread.placed();
  if (placed.start_state != JobMessage::NOT_YET || !placed.restore) return threads_.set_due(id, now + config_.keepers.look);
  threads_.set_due(id, now + config_.retry);
  out.watched_peers.insert(out.watched_peers.end(), thread.keepers.begin(), thread.keepers.end());
  placed.keeper_missing = keepers_.is_there(thread) ? kNever : std::min(placed.keeper_missing, now);
  if (placed.keeper_missing == kNever || now - placed.keeper_missing < config_.keeper_patience) return;
  GW_REACHED("home: a host waits for a keeper that is gone");
  out.send(placed.host, charter_.id(), drop_message(id, thread.epoch));
  lose(now, id, {}, out);  // waits for the keeper, and the slot is free
  place_ready(now, out);
}

// --- threads

// The thread, if that peer hosts it in that epoch.
HomeThread* Home::on_record(ThreadId id, const PeerId& from, std::uint64_t epoch) {
  HomeThread* thread = threads_.find(id);
  const bool is_host = thread != nullptr && thread->placed() != nullptr && thread->placed()->host == from && thread->epoch == epoch;
  return is_host ? thread : nullptr;
}

void Home::on_status(Time now, const PeerId& from, const JobMessage::Status& status, Actions& out) {
  Claim* claim = claims_.find(from);
  if (claim == nullptr || claim->claim != status.claim()) {
    GW_REACHED("home: a status of a claim that is not held");
    return out.send(from, charter_.id(), release_message(status.claim()));
  }
  claim->last_seen = now;
  // An older full status lacks what came since. Reports about single threads stay true, or are about an epoch that is over.
  if (status.full() && status.number() <= claim->status) return;
  slots_.on_status(now, from, *claim, status);
  std::set<ThreadId> absent;
  if (status.full())
    for (const ThreadId id : claim->threads)
      if (threads_.at(id).placed()->acknowledged) absent.insert(id);
  for (const JobMessage::Status::Held& held : status.held()) {
    note_held(now, from, held, status.failure(), out);
    absent.erase(ThreadId{held.thread()});
    if (over_) return;
  }
  for (const ThreadId id : absent) {
    GW_REACHED("home: a host no longer has a thread");
    lose(now, id, status.failure(), out);
    if (over_) return;
  }
  place_ready(now, out);
}

void Home::note_held(Time now, const PeerId& from, const JobMessage::Status::Held& held, const std::string& failure, Actions& out) {
  const ThreadId id{held.thread()};
  HomeThread* thread = on_record(id, from, held.epoch());
  if (thread == nullptr) {
    if (held.start_state() == JobMessage::GONE) return;
    GW_REACHED("home: a zombie was dropped");
    return out.send(from, charter_.id(), drop_message(id, held.epoch()));
  }
  if (held.start_state() == JobMessage::GONE) {
    GW_REACHED("home: a host does not take a thread");
    const bool ran = thread->placed()->start_state >= JobMessage::BEGINNING && !held.no_room();
    lose(now, id, failure, out, ran ? Blame::thread : Blame::host);
    return slots_.on_refused(from);
  }
  thread->placed()->acknowledged = true;
  if (held.start_state() >= JobMessage::BEGINNING) note_source(id, held.restored_from(), out);
  note_start_state(now, id, held.start_state(), out);
  thread->placed()->keeper_stalled = !held.stalled_keeper().empty();
  if (held.stalled_keeper().empty() || held.start_state() < JobMessage::BEGINNING) return;
  if (keepers_.on_stalled(now, id, PeerId::from(held.stalled_keeper()), out)) records_.write(id, out);
}

// The host says from where the thread goes on.
void Home::note_start_state(Time now, ThreadId id, JobMessage::StartState start_state, Actions& out) {
  HomeThread& thread = threads_.at(id);
  HomeThread::Placed& placed = *thread.placed();
  if (start_state <= placed.start_state) return;
  placed.start_state = start_state;
  if (Claim* claim = claims_.find(placed.host)) claim->progress_at = now;
  if (start_state < JobMessage::BEGINNING) return;
  if (run_time_.on_started(now + environment_.wall_offset, id, thread)) records_.write(id, out);
  threads_.set_due(id, now);  // is its keeper a good one?
  if (!std::exchange(thread.placed_again, false)) return;
  records_.on_taken(id, thread, start_state == JobMessage::IMAGE ? RecoveryCounters::From::image : RecoveryCounters::From::beginning, out);
}

// This run of the thread is lost: the thread is placed again, or fails if its workers died too often. `failure`: why the worker died.
void Home::lose(Time now, ThreadId id, std::string_view failure, Actions& out, Blame blame) {
  HomeThread& thread = threads_.at(id);
  const PeerId host = thread.placed()->host;
  leave_host(now, id, host);
  threads_.wait(id);
  counters_.on_lost(host, failure);
  if (!failure.empty()) threads_.avoid(id, host);
  const std::uint32_t limit = manifest_.content().policy().max_failures();
  if (!failure.empty() && blame == Blame::thread && ++thread.failures > limit && limit > 0)
    return fail_thread(now, id, fmt::format("its worker died {} times, the last time: {}", thread.failures, failure), out);
  records_.write(id, out);
  check_suspended(out);
}

// A host reports a fault of the thread, or its effects show one. The host may be wrong or lie, so another host has to confirm it.
void Home::on_fault(Time now, ThreadId id, const std::string& sentence, Actions& out, Fault fault) {
  HomeThread& thread = threads_.at(id);
  const PeerId host = thread.placed()->host;
  thread.faults[host] = sentence;
  ++thread.fault_reports;
  out.send(host, charter_.id(), drop_message(id, thread.epoch));
  const bool lone = host == environment_.self || !placement_.others_lend(now, host, environment_.live_peers, claims_);
  if (placement_.is_proven(thread, lone))
    return fault == Fault::kept_state && may_begin_anew(id) ? abandon_kept_state(now, id, out) : fail_thread(now, id, sentence, out);
  GW_REACHED("home: a host says that a thread cannot run, and another one is asked");
  lose(now, id, {}, out);
  threads_.avoid(id, host);
  if (host != environment_.self) {
    threads_.doubt(id, host);
    threads_.set_due(id, now + config_.fault_patience);
    if (!reports_.lacks_blobs()) slots_.on_blame(now, host, out);
  }
  place_ready(now, out);
}

void Home::end_thread(Time now, ThreadId id, const Effect::End& end, Actions& out) {
  const HomeThread::Placed placed = *threads_.at(id).placed();
  counters_.on_finished(placed.host);
  placement_.on_ended(now - placed.since);
  if (Claim* claim = claims_.find(placed.host)) {
    ++claim->finished;
    claims_.set_extra_threads(placed.host, placement_.ahead(now, *claim, threads_.ready().size(), claims_.size()));
  }
  policy_.is_failure(threads_.at(id), end) ? threads_.fail(id, {exit_code_of(end), end.sentence()})
                                           : threads_.end(id, {exit_code_of(end), end.sentence()});
  after_end(now, id, placed.host, out);
}

// The thread begins anew in its next epoch, on another host if there is one. What it has printed is void.
void Home::run_again(Time now, ThreadId id, const Effect& end, Actions& out) {
  GW_REACHED("home: a thread that failed runs again");
  const HomeThread& thread = threads_.at(id);
  const PeerId host = thread.placed()->host;
  const EndFacts facts = end_facts_of(now + environment_.wall_offset, thread);
  out.after_disk(to_peer(host, charter_.id(), drop_message(id, thread.epoch)));
  leave_host(now, id, host);
  threads_.run_again(id, host);
  files_.drop(thread.task, out);
  ledger_.begin_again(id);
  records_.append_attempt(id, end, facts, out);
  check_suspended(out);
  place_ready(now, out);
}

void Home::fail_thread(Time now, ThreadId id, std::string sentence, Actions& out) {
  const HomeThread& thread = threads_.at(id);
  const PeerId host = thread.host.value_or(environment_.self);
  if (thread.placed() != nullptr) out.send(host, charter_.id(), drop_message(id, thread.epoch));
  threads_.fail(id, {1, sentence});
  out.after_disk(Notify{ThreadFailed{charter_.id(), id, std::move(sentence)}});
  after_end(now, id, host, out);
}

void Home::on_effects(Time now, const PeerId& from, const JobMessage::Effects& message, Actions& out, Files files) {
  const ThreadId id{message.thread()};
  HomeThread* thread = threads_.find(id);
  if (thread == nullptr) return out.send(from, charter_.id(), drop_message(id, message.epoch()));
  const bool ended_there = thread->over() && thread->host == from && thread->epoch == message.epoch();
  const bool runs_there = on_record(id, from, message.epoch()) != nullptr;
  if (!ended_there && !runs_there && !(GW_BUG(4) && thread->placed() != nullptr)) {
    GW_REACHED("home: effects of a zombie");
    if (message.epoch() >= thread->epoch && thread->host != from)
      out.notify(PeerRefused{from, fmt::format("it sent effects of thread {}, which it does not host", id.value())});
    return out.send(from, charter_.id(), drop_message(id, message.epoch()));
  }
  if (runs_there && files == Files::new_here && !files_.admit(from, message, out)) return;
  if (Claim* claim = claims_.find(from)) {
    claim->last_seen = now;
    claim->status = std::max(claim->status, message.status());
  }
  if (runs_there) {
    thread->placed()->acknowledged = true;
    note_source(id, message.restored_from(), out);
    note_start_state(now, id, message.start_state(), out);
  }
  for (const Effect& effect : message.effects())
    if (!take_effect(now, message, effect, out)) return;
  if (!over_) place_ready(now, out);  // place spawned children
  JobMessage answer = stored_message(id, message.epoch(), ledger_.stored(id), threads_.unfinished_children());
  if (GW_BUG(5)) return out.send(from, charter_.id(), std::move(answer));
  out.after_disk(to_peer(from, charter_.id(), std::move(answer)));
}

// False: the effects after this one are ignored.
bool Home::take_effect(Time now, const JobMessage::Effects& message, const Effect& effect, Actions& out) {
  const ThreadId id{effect.thread()};
  const std::uint64_t stored = ledger_.stored(id, wire::stream_of(effect));
  if (effect.sequence() > stored + 1) return true;  // an earlier effect was lost, and will be repeated
  const bool next = effect.sequence() == stored + 1;
  const bool mail = wire::stream_of(effect) == kMailStream;
  if (next && mail && !mail_.admits(effect, ledger_.stored(id, kLogStream))) return true;  // it will be repeated
  HomeThread& thread = threads_.at(id);
  if (next && thread.placed() == nullptr) {
    out.notify(PeerRefused{*thread.host, fmt::format("it sent an effect of thread {} after its end", id.value())});
    return false;
  }
  if (const Status fits = may_store(effect); next && !fits) {
    on_fault(now, id, fits.error().detail, out);
    return false;
  }
  const auto verdict = ledger_.accept(effect);
  if (!verdict) {
    if (thread.placed() != nullptr) on_fault(now, id, verdict.error().detail, out);
    return false;
  }
  if (*verdict == EffectLedger::Verdict::duplicate) {
    GW_REACHED("home: an effect came twice");
    if (mail && GW_BUG(172)) mail_.take(effect, out);
    return true;
  }
  const bool spawned = ledger_.stored(id, kLogStream) > 0 || ledger_.stored(id, kMailStream) > 0 || !mail_.has_beginning(id);
  if (effect.has_end() && policy_.runs_again(thread, effect.end(), FailurePolicy::Spawned(spawned))) {
    run_again(now, id, effect, out);
    return false;
  }
  const Time wall = now + environment_.wall_offset;
  mail ? mail_.take(effect, out) : store(effect, end_facts_of(wall, thread), out);
  if (Claim* claim = claims_.find(thread.placed()->host)) claim->on_effect(now);
  if (message.determinants() > thread.determinants) {
    thread.determinants = message.determinants();
    records_.write(id, out);
  }
  if (effect.has_spawn()) add_child(thread, ThreadId{effect.spawn().child()}, out);
  if (effect.has_end()) end_thread(now, id, effect.end(), out);
  return true;
}

// A child waits for a slot like any other thread. The host sends a spawn only when the keepers of the parent have the child's first image.
void Home::add_child(const HomeThread& parent, ThreadId id, Actions& out) {
  GW_REACHED("home: a thread was spawned");
  HomeThread& child = threads_.add_forked(id);
  child.kept = true;
  child.preferred = parent.placed()->host;
  threads_.set_keepers(id, parent.keepers);
  records_.write(id, out);
}

// --- tasks

void Home::take_report(Time now, const PeerId& from, const JobMessage::TaskReport& report, Actions& out) {
  Claim* claim = claims_.find(from);
  if (claim == nullptr || claim->claim != report.claim()) {
    GW_REACHED("home: a report of a claim that is not held");
    return out.send(from, charter_.id(), release_message(report.claim()));
  }
  claim->last_seen = now;
  if (tasks_.on_report(from, report)) {
    const TaskReports::Taken taken = reports_.take(now, from, config_.tasks.lease, report, out);
    for (const std::uint32_t task : taken.promoted) promote(now, from, task, out);
    mail_.on_report(report, out);
    if (taken.refused) slots_.on_refused(from);
    if (taken.came_back && may_run()) tasks_.feed_all(now, out);
  } else if (report.number() > 0) {
    GW_REACHED("home: a report of tasks came twice, early, or in answer to an earlier boot");
  }
  if (finish_if_done(now, out)) return;
  if (claims_.find(from) == nullptr) return;  // given back with all others, when the job was suspended
  if (report.number() > 0) out.after_disk(tasks_.acknowledgement(from));
  if (may_run()) tasks_.feed(now, from, out);
}

// The task goes on at its host as a thread of its first epoch.
void Home::promote(Time now, const PeerId& from, std::uint32_t task, Actions& out) {
  if (!tasks_.take(from, task)) {
    if (task < manifest_.tasks()) out.send(from, charter_.id(), drop_message(manifest_.thread_of(task), 1));
    return;
  }
  GW_REACHED("home: a task became a thread");
  const std::uint32_t failed_runs = tasks_.table().failed_runs(task);
  tasks_.table().promote(task);
  const ThreadId id = manifest_.thread_of(task);
  add_thread(id).task = task;
  threads_.at(id).failed_runs = failed_runs;
  place(now, id, from, out, Start::promoted);
}

// --- standard input

void Home::on_want_input(Time now, const PeerId& from, const JobMessage::WantInput& want, Actions& out) {
  const ThreadId id{want.thread()};
  if (id != manifest_.thread_of(0) || !input_) return;
  if (on_record(id, from, want.epoch()) == nullptr) return out.send(from, charter_.id(), drop_message(id, want.epoch()));
  const Status answered = input_->on_want({from, want.epoch(), want.piece(), want.in_image()}, out);
  if (answered) return;
  if (answered.error().kind != Kind::invalid) return fail_thread(now, id, answered.error().detail, out);
  out.send(from, charter_.id(), drop_message(id, want.epoch()));  // the host's fault, not the thread's
  lose(now, id, answered.error().detail, out);
}

void Home::on_ask_kept(Time now, const PeerId& from, const JobMessage::AskKept& message, Actions& out) {
  slots_.on_kept(now, from, message);
  JobMessage answer = forget_message(from, message, threads_);
  // A keeper may forget a thread only after the change at home that permits it is on disk.
  if (answer.forget().threads_size() > 0) out.after_disk(to_peer(from, charter_.id(), std::move(answer)));
}

}  // namespace gw::job
