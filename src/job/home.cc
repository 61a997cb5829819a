#include "job/home.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/home_messages.h"
#include "job/records.h"

namespace gw::job {
namespace {

constexpr std::size_t kShownAfterwards = 1000;  // threads of a job that is over
constexpr std::uint32_t kLimitReached = 5;      // the exit code of a program that reached a limit, as `godwit run` has it everywhere
constexpr std::uint64_t kPageBytes = 64u << 10;

}  // namespace

Home::Home(const Config& config, const Environment& environment, Charter charter, Manifest manifest)
    : config_(config),
      environment_(environment),
      charter_(std::move(charter)),
      manifest_(std::move(manifest)),
      roster_(charter_.id(), environment.key, environment.signer, environment.boot),
      ledger_(EffectLedger::Config{.threads = config.threads}),
      placement_(config.placement, manifest_.content().policy().limits().memory_pages() * kPageBytes),
      keepers_(config.keepers, {charter_.id(), environment.boot, environment.live_peers, roster_, threads_, environment.rng}) {
  const bool has_images = manifest_.content().policy().checkpoint_every_ns() > 0;
  if (manifest_.content().standard_input())
    input_.emplace(config.input, charter_.id(), manifest_.thread_of(0),
                   has_images ? StandardInput::Images::some : StandardInput::Images::none);
  for (std::uint32_t task = 0; task < manifest_.tasks(); ++task) add_thread(manifest_.thread_of(task)).task = task;
}

HomeThread& Home::add_thread(ThreadId id) {
  if (!ledger_.knows(id)) GW_ASSERT(ledger_.add(id).has_value());
  return threads_.add(id);
}

void Home::begin(Time now, ByteView manifest, Actions& out) {
  seek_at_ = now;
  submitted_at_ = now + environment_.wall_offset;
  wire::pb::JobRecord record = this->record();
  record.set_charter(charter_.bytes());
  record.set_manifest(std::string(as_text(manifest)));
  out.record(RecordKey{.kind = RecordKind::job, .job = charter_.id()}.encode(), record.SerializeAsString());
  out.after_disk(Notify{JobAccepted{charter_.id()}});
}

void Home::write(ThreadId id, Actions& out) const {
  const HomeThread& thread = threads_.at(id);
  const Claim* claim = thread.placed() != nullptr ? claims_.find(thread.placed()->host) : nullptr;
  out.record(RecordKey{.kind = RecordKind::thread, .job = charter_.id(), .thread = id}.encode(),
             record_of(thread, claim != nullptr ? claim->slots : 0).SerializeAsString());
}

void Home::write_counters(Actions& out) const {
  out.record(RecordKey{.kind = RecordKind::counters, .job = charter_.id()}.encode(), counters_.record().SerializeAsString());
}

Status Home::recover(Time now, const HomeRecords& records) {
  GW_REACHED("home: a job was recovered");
  counters_ = RecoveryCounters(records.counters);
  if (input_) GW_TRY_VOID(input_->recover(records.input));
  counters_.forget_finished();
  GW_TRY_VOID(HomeRecovery(now, records, {manifest_, ledger_, threads_, claims_, roster_, counters_}).run());
  submitted_at_ = Time(static_cast<std::int64_t>(records.job.submitted_at_ns()));
  seek_at_ = tick_at_ = now;
  return ok();
}

void Home::cancel(Time now, Actions& out) {
  GW_REACHED("home: a job was cancelled");
  finish(now, wire::pb::JobRecord::CANCELLED, out);
}

void Home::finish(Time now, wire::pb::JobRecord::State state, Actions& out) {
  state_ = state;
  ended_at_ = now + environment_.wall_offset;
  out.record(RecordKey{.kind = RecordKind::job, .job = charter_.id()}.encode(), record().SerializeAsString());
  for (const auto& [id, thread] : threads_.all())
    out.record(RecordKey{.kind = RecordKind::thread, .job = charter_.id(), .thread = id}.encode(), std::nullopt);
  out.record(RecordKey{.kind = RecordKind::counters, .job = charter_.id()}.encode(), std::nullopt);
  if (input_) input_->clear(out);
  out.after_disk(Notify{JobOver{.job = charter_.id(),
                                .threads = threads_.size(),
                                .failed = threads_.failed(),
                                .exit_code = threads_.exit_code(),
                                .cancelled = state == wire::pb::JobRecord::CANCELLED}});
  // A host that does not hear this sends its status, and is told then.
  for (const auto& [peer, claim] : claims_.all()) out.send(peer, charter_.id(), release_message(claim.claim));
  claims_.clear();
  over_ = true;
}

void Home::on_tick(Time now, Actions& out) {
  if (over_ || now < next_deadline()) return;
  while (const auto id = threads_.take_due(now)) {
    on_due(now, *id, out);
    if (over_) return;
  }
  if (now < tick_at_) return;
  tick_at_ = now + config_.retry / 2;
  tend_claims(now, out);
  std::vector<PeerId> back;
  for (const auto& [keeper, threads] : threads_.parked())
    if (environment_.live_peers.alive(keeper)) back.push_back(keeper);
  for (const PeerId& keeper : back) unpark(keeper);
  place_ready(now, out);
  seek(now, out);
}

Time Home::next_deadline() const { return over_ ? kNever : std::min(tick_at_, threads_.next_due()); }

wire::pb::JobRecord Home::record() const {
  wire::pb::JobRecord record = totals_of(manifest_, threads_, counters_);
  record.set_state(state_);
  record.set_submitted_at_ns(static_cast<std::uint64_t>(submitted_at_.count()));
  record.set_ended_at_ns(static_cast<std::uint64_t>(ended_at_.count()));
  if (state_ != wire::pb::JobRecord::RUNNING) add_threads(manifest_, threads_, kShownAfterwards, record);
  return record;
}

JobSnapshot Home::snapshot() const {
  return snapshot_of(record(), manifest_, threads_, claims_,
                     threads_.waiting() == 0
                         ? Reason::ok
                         : placement_.why_no_slot(manifest_.content().policy().slots(), environment_.live_peers, claims_));
}

// --- claims

// Asks peers with free slots for as many as the job can use and does not have.
void Home::seek(Time now, Actions& out) {
  if (now < seek_at_ || threads_.ready().empty()) return;
  seek_at_ = now + config_.retry;
  const std::size_t most = std::min<std::size_t>(manifest_.content().policy().slots(), threads_.unfinished());
  const std::size_t wanted = most - std::min<std::size_t>(most, claims_.slots());
  for (const Placement::Ask& ask : placement_.ask(now, wanted, environment_.live_peers, claims_))
    out.send(ask.peer, charter_.id(), reserve_message(charter_, ask.slots));
}

void Home::on_offer(Time now, const PeerId& from, const JobMessage::Offer& offer, Actions& out) {
  placement_.on_answer(from);
  const Claim* held = claims_.find(from);
  if (held != nullptr && held->claim == offer.claim()) return;
  std::uint32_t usable = placement_.usable(offer.slots(), offer.memory_bytes());
  if (usable == 0) {
    // Too small for what the job may need. It is asked again only if there is nobody else, and may be large enough for what it does need.
    if (placement_.is_distrusted(now, from) && claims_.empty()) usable = 1;
    placement_.distrust(now, from);
  }
  const bool fits = usable > 0 && claims_.slots() + usable <= manifest_.content().policy().slots();
  if (held != nullptr || threads_.ready().empty() || !fits || !roster_.add_host(from)) {
    GW_REACHED("home: an offer was not wanted");
    return out.send(from, charter_.id(), release_message(offer.claim()));
  }
  Claim& claim = claims_.add(from, {.claim = offer.claim(),
                                    .slots = usable,
                                    .since = now,
                                    .last_seen = now,
                                    .renew_at = Time(0),
                                    .idle_since = now,
                                    .progress_at = now});
  send_claim(from, claim, now, out);
  place_ready(now, out);
}

void Home::on_no_claim(Time now, const PeerId& from, const JobMessage::ClaimName& name, Actions& out) {
  const Claim* held = claims_.find(from);
  if (held == nullptr || held->claim != name.claim()) return;
  GW_REACHED("home: a host had lost its claim");
  lose_claim(now, from, out);
}

void Home::on_peer_lost(Time now, const PeerId& peer, Actions& out) {
  placement_.on_answer(peer);
  if (const std::set<ThreadId>* kept = threads_.kept_by(peer))
    for (const ThreadId id : *kept)
      if (threads_.at(id).placed() != nullptr) threads_.set_due(id, now);
  if (claims_.find(peer) == nullptr) return;
  GW_REACHED("home: a host was lost");
  lose_claim(now, peer, out);
}

void Home::lose_claim(Time now, const PeerId& peer, Actions& out) {
  const std::set<ThreadId> threads = claims_.find(peer)->threads;
  if (!threads.empty()) {
    counters_.on_peer_lost();
    out.notify(HostLost{charter_.id(), peer, threads.size()});
  }
  for (const ThreadId id : threads) lose(now, id, {}, out);
  claims_.remove(peer);
  place_ready(now, out);
}

void Home::tend_claims(Time now, Actions& out) {
  std::vector<PeerId> lost;
  for (auto& [peer, claim] : claims_.all()) {
    if (!claim.threads.empty() || !threads_.ready().empty()) claim.idle_since = now;
    const bool idle = now - claim.idle_since > config_.idle;
    const bool stalled = is_stalled(now, peer, claim);
    if (now - claim.last_seen > config_.silence) {
      lost.push_back(peer);
    } else if (idle || stalled) {
      GW_REACHED("home: a claim was given back");
      if (stalled) {
        GW_REACHED("home: a host that does nothing was left");
        placement_.on_stall(now, peer);
        for (const ThreadId id : claim.threads) threads_.avoid(id, peer);
      }
      out.send(peer, charter_.id(), release_message(claim.claim));
      lost.push_back(peer);
    } else if (now >= claim.renew_at) {
      send_claim(peer, claim, now, out);
    }
  }
  for (const PeerId& peer : lost) lose_claim(now, peer, out);
}

// Whether nothing was heard of its threads for too long, although it answers, and somebody else could have them.
bool Home::is_stalled(Time now, const PeerId& peer, const Claim& claim) const {
  if (claim.threads.empty() || now - claim.progress_at <= config_.placement.stall || GW_BUG(14)) return false;
  const Time every(static_cast<std::int64_t>(manifest_.content().policy().checkpoint_every_ns()));
  if (const Time bound = placement_.stall_bound(every); bound == kNever || now - claim.progress_at <= bound) return false;
  return placement_.others_have_room(now, peer, environment_.live_peers, claims_);
}

void Home::send_claim(const PeerId& peer, Claim& claim, Time now, Actions& out) const {
  claim.renew_at = now + (claim.status == 0 ? config_.retry : config_.renew);
  out.send(peer, charter_.id(), claim_message(claim.claim));
}

// --- placing

// As many as there is room for; called whenever somebody gets room or a thread becomes ready.
void Home::place_ready(Time now, Actions& out) {
  while (!over_ && !threads_.ready().empty()) {
    const ThreadId id = threads_.ready().begin()->second;
    if (!keepers_.is_there(threads_.at(id))) {
      threads_.park(id, now);
      if (may_begin_anew(id)) threads_.set_due(id, now + config_.keeper_patience);
      continue;
    }
    const bool plenty = threads_.ready().size() > 2 * claims_.size();
    const std::optional<PeerId> host = placement_.host_for(threads_.at(id), claims_, plenty);
    if (!host) return;
    place(now, id, *host, out);
  }
}

void Home::place(Time now, ThreadId id, const PeerId& host, Actions& out) {
  HomeThread& thread = threads_.at(id);
  if (thread.epoch > 0 && !GW_BUG(3)) {
    GW_REACHED("home: a thread was placed again");
    thread.epoch = ledger_.next_epoch(id).value();
    thread.placed_again = true;
  } else if (thread.epoch == 0) {
    thread.epoch = 1;
    out.after_disk(Notify{ThreadPlaced{charter_.id(), id, thread.epoch, host}});
  }
  claims_.attach(host, id);
  HomeThread::Placed& placed = threads_.place(id, host, claims_.find(host)->claim, now);
  placed.stored = ledger_.stored(id);
  placed.restore = thread.kept;
  keepers_.assign(now, id, host);
  // From now on the keeper may have something of it.
  thread.kept = true;
  write(id, out);
  send_assign(now, id, out);
}

// Repeated as it was, in the same epoch, until the host has said that it has the thread: a new epoch for every word that is late would make
// a loaded host begin again and again.
void Home::send_assign(Time now, ThreadId id, Actions& out) {
  const HomeThread& thread = threads_.at(id);
  const HomeThread::Placed& placed = *thread.placed();
  out.after_disk(to_peer(placed.host, charter_.id(), assign_message(id, thread, keepers_.grant(id, thread, *thread.keeper))));
  threads_.set_due(id, now + config_.retry);
}

// Without stored effects nobody has seen anything of the thread; without determinants it does the same again. A forked thread has no
// beginning of its own.
bool Home::may_begin_anew(ThreadId id) const {
  const HomeThread& thread = threads_.at(id);
  if (GW_BUG(15)) return !thread.forked;
  return !thread.forked && (ledger_.stored(id) == 0 || thread.determinants == 0);
}

void Home::unpark(const PeerId& keeper) {
  GW_REACHED("home: a keeper came back to threads that waited for it");
  for (const ThreadId id : std::set<ThreadId>(threads_.parked().at(keeper))) threads_.wait(id);
}

void Home::on_due(Time now, ThreadId id, Actions& out) {
  HomeThread& thread = threads_.at(id);
  if (thread.waits()) {
    GW_REACHED("home: a thread begins anew because its keeper is gone too");
    threads_.wait(id);
    threads_.set_keeper(id, std::nullopt);
    thread.kept = false;
    return place_ready(now, out);
  }
  const HomeThread::Placed& placed = *thread.placed();
  if (!placed.acknowledged) {
    GW_REACHED("home: an assignment was repeated");
    return send_assign(now, id, out);
  }
  if (placed.start_state >= JobMessage::BEGINNING) return keepers_.tend(now, id, out);
  tend_waiting_host(now, id, out);
}

// The host has the thread, and lacks something that the keeper has, or a slot.
void Home::tend_waiting_host(Time now, ThreadId id, Actions& out) {
  HomeThread& thread = threads_.at(id);
  HomeThread::Placed& placed = *thread.placed();
  if (placed.start_state != JobMessage::NOT_YET || !placed.restore) return threads_.set_due(id, now + config_.keepers.look);
  threads_.set_due(id, now + config_.retry);
  out.watched_peers.push_back(*thread.keeper);
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
  if (status.number() <= claim->status) return;
  claim->status = status.number();
  claim->last_seen = now;
  if (status.progress() > claim->progress) claim->progress_at = now;
  claim->progress = std::max(claim->progress, status.progress());
  std::set<ThreadId> absent;
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
  if (threads_.find(id) == nullptr) return;  // a child whose fork is still to come
  HomeThread* thread = on_record(id, from, held.epoch());
  if (thread == nullptr) {
    if (held.start_state() == JobMessage::GONE) return;
    GW_REACHED("home: a zombie was dropped");
    return out.send(from, charter_.id(), drop_message(id, held.epoch()));
  }
  if (held.start_state() == JobMessage::GONE) {
    GW_REACHED("home: a host does not take a thread");
    return lose(now, id, failure, out);
  }
  thread->placed()->acknowledged = true;
  note_start_state(now, id, held.start_state(), out);
  if (held.keeper_stalled() && held.start_state() >= JobMessage::BEGINNING) keepers_.on_stalled(now, id, out);
}

void Home::leave_host(Time now, ThreadId id, const PeerId& host) {
  claims_.detach(host, id);
  if (Claim* claim = claims_.find(host)) claim->idle_since = now;
}

// The host says from where the thread goes on.
void Home::note_start_state(Time now, ThreadId id, JobMessage::StartState start_state, Actions& out) {
  HomeThread& thread = threads_.at(id);
  HomeThread::Placed& placed = *thread.placed();
  if (start_state <= placed.start_state) return;
  placed.start_state = start_state;
  if (Claim* claim = claims_.find(placed.host)) claim->progress_at = now;
  if (start_state < JobMessage::BEGINNING) return;
  threads_.set_due(id, now);  // is its keeper a good one?
  if (!std::exchange(thread.placed_again, false)) return;
  const bool from_image = start_state == JobMessage::IMAGE;
  ++(from_image ? thread.resumed : thread.restarted);
  counters_.on_taken(placed.host, from_image ? RecoveryCounters::From::image : RecoveryCounters::From::beginning);
  write(id, out);
  write_counters(out);
  if (from_image) {
    GW_REACHED("home: a thread was resumed");
    out.after_disk(Notify{ThreadResumed{charter_.id(), id, thread.epoch, placed.host}});
  } else {
    GW_REACHED("home: a thread was restarted");
    out.after_disk(Notify{ThreadRestarted{charter_.id(), id, thread.epoch, placed.host}});
  }
}

// The thread's life is over and the thread is not. `failure`: its worker died of something.
void Home::lose(Time now, ThreadId id, std::string_view failure, Actions& out) {
  HomeThread& thread = threads_.at(id);
  const PeerId host = thread.placed()->host;
  leave_host(now, id, host);
  threads_.wait(id);
  counters_.on_lost(host);
  write_counters(out);
  if (!failure.empty()) threads_.avoid(id, host);
  const std::uint32_t limit = manifest_.content().policy().max_failures();
  if (!failure.empty() && ++thread.failures > limit && limit > 0)
    return fail_thread(now, id, fmt::format("its worker died {} times, the last time: {}", thread.failures, failure), out);
  write(id, out);
}

// A host says, or shows by what it sends, that the thread cannot go on. It may be the host that is wrong: another one is asked, and if that
// says so too, it is the thread.
void Home::on_fault(Time now, ThreadId id, const std::string& sentence, Actions& out) {
  constexpr std::size_t kAgreeing = 2;
  HomeThread& thread = threads_.at(id);
  const PeerId host = thread.placed()->host;
  thread.faults[host] = sentence;
  const bool agreed = thread.faults.size() >= kAgreeing || ++thread.fault_reports >= config_.faults || GW_BUG(18);
  out.send(host, charter_.id(), drop_message(id, thread.epoch));
  if (agreed) return fail_thread(now, id, sentence, out);
  GW_REACHED("home: a host says that a thread cannot run, and another one is asked");
  leave_host(now, id, host);
  threads_.wait(id);
  threads_.avoid(id, host);
  counters_.on_lost(host);
  write_counters(out);
  write(id, out);
  place_ready(now, out);
}

void Home::after_end(Time now, ThreadId id, const PeerId& host, Actions& out) {
  leave_host(now, id, host);
  write(id, out);
  if (threads_.unfinished() == 0) return finish(now, wire::pb::JobRecord::DONE, out);
  place_ready(now, out);
}

void Home::end_thread(Time now, ThreadId id, const Effect::End& end, Actions& out) {
  const HomeThread::Placed placed = *threads_.at(id).placed();
  counters_.on_finished(placed.host);
  placement_.on_ended(now - placed.since);
  if (Claim* claim = claims_.find(placed.host)) {
    ++claim->finished;
    claims_.set_ahead(placed.host, placement_.ahead(now, *claim, threads_.ready().size(), claims_.size()));
  }
  if (end.reason() == Effect::End::EXITED) {
    threads_.end(id, {end.exit_code(), end.sentence()});
  } else {
    threads_.fail(id, {end.reason() == Effect::End::LIMIT ? kLimitReached : 1, end.sentence()});
  }
  after_end(now, id, placed.host, out);
}

void Home::fail_thread(Time now, ThreadId id, std::string sentence, Actions& out) {
  const HomeThread& thread = threads_.at(id);
  const PeerId host = thread.host.value_or(environment_.self);
  if (thread.placed() != nullptr) out.send(host, charter_.id(), drop_message(id, thread.epoch));
  threads_.fail(id, {1, sentence});
  out.after_disk(Notify{ThreadFailed{charter_.id(), id, std::move(sentence)}});
  after_end(now, id, host, out);
}

void Home::on_thread_failed(Time now, const PeerId& from, const JobMessage::ThreadName& message, Actions& out) {
  const ThreadId id{message.thread()};
  if (on_record(id, from, message.epoch()) != nullptr) on_fault(now, id, message.failure(), out);
}

void Home::on_effects(Time now, const PeerId& from, const JobMessage::Effects& message, Actions& out) {
  const ThreadId id{message.thread()};
  HomeThread* thread = threads_.find(id);
  // A child whose fork is still to come: the host will repeat this.
  if (thread == nullptr) return;
  const bool ended_there = thread->over() && thread->host == from && thread->epoch == message.epoch();
  const bool runs_there = on_record(id, from, message.epoch()) != nullptr;
  if (!ended_there && !runs_there && !(GW_BUG(4) && thread->placed() != nullptr)) {
    GW_REACHED("home: effects of a zombie");
    if (message.epoch() >= thread->epoch && thread->host != from)
      out.notify(PeerRefused{from, fmt::format("it sent effects of thread {}, which it does not host", id.value())});
    return out.send(from, charter_.id(), drop_message(id, message.epoch()));
  }
  if (Claim* claim = claims_.find(from)) {
    claim->last_seen = now;
    claim->status = std::max(claim->status, message.status());
  }
  if (runs_there) {
    thread->placed()->acknowledged = true;
    note_start_state(now, id, message.start_state(), out);
  }
  for (const Effect& effect : message.effects())
    if (!take_effect(now, message, effect, out)) return;
  JobMessage answer = stored_message(id, message.epoch(), ledger_.stored(id));
  if (GW_BUG(5)) return out.send(from, charter_.id(), std::move(answer));
  out.after_disk(to_peer(from, charter_.id(), std::move(answer)));
}

// False: nothing after it counts.
bool Home::take_effect(Time now, const JobMessage::Effects& message, const Effect& effect, Actions& out) {
  const ThreadId id{effect.thread()};
  if (effect.sequence() > ledger_.stored(id) + 1) return true;  // one before it was lost, and will be repeated
  const bool next = effect.sequence() == ledger_.stored(id) + 1;
  HomeThread& thread = threads_.at(id);
  if (next && thread.placed() == nullptr) {
    out.notify(PeerRefused{*thread.host, fmt::format("it sent an effect of thread {} after its end", id.value())});
    return false;
  }
  const auto* child = effect.has_fork() && next ? forked_in(message, ThreadId{effect.fork().child()}) : nullptr;
  if (effect.has_fork() && next && (child == nullptr || !roster_.is_keeper(PeerId::from(child->keeper())))) {
    on_fault(now, id, "its host did not say which keeper of the job has the child it forked", out);
    return false;
  }
  const auto verdict = ledger_.accept(effect);
  if (!verdict) {
    if (thread.placed() != nullptr) on_fault(now, id, verdict.error().detail, out);
    return false;
  }
  if (*verdict == EffectLedger::Verdict::duplicate) {
    GW_REACHED("home: an effect came twice");
    return true;
  }
  out.append(charter_.id(), entry_of(effect));
  out.after_disk(Notify{EffectStored{charter_.id(), effect}});
  const PeerId host = thread.placed()->host;
  if (Claim* claim = claims_.find(host)) claim->progress_at = now;
  if (message.determinants() > thread.determinants) {
    thread.determinants = message.determinants();
    write(id, out);
  }
  if (effect.has_fork()) add_child(now, message, effect, host, out);
  if (effect.has_end()) end_thread(now, id, effect.end(), out);
  return true;
}

// It runs beside its parent already.
void Home::add_child(Time now, const JobMessage::Effects& message, const Effect& effect, const PeerId& host, Actions& out) {
  GW_REACHED("home: a thread was forked");
  const ThreadId id{effect.fork().child()};
  add_thread(id);
  threads_.place_forked(id, effect.epoch(), *forked_in(message, id), host, claims_.find(host)->claim, now);
  claims_.attach(host, id);
  write(id, out);
}

// --- standard input

void Home::on_want_input(Time now, const PeerId& from, const JobMessage::WantInput& want, Actions& out) {
  const ThreadId id{want.thread()};
  if (id != manifest_.thread_of(0) || !input_) return;
  if (on_record(id, from, want.epoch()) == nullptr) return out.send(from, charter_.id(), drop_message(id, want.epoch()));
  const auto piece = input_->on_want({from, want.epoch(), want.piece(), want.in_image()}, out);
  if (!piece && piece.error().kind == Kind::invalid) {  // the host's fault, not the thread's
    out.send(from, charter_.id(), drop_message(id, want.epoch()));
    return lose(now, id, piece.error().detail, out);
  }
  if (!piece) return fail_thread(now, id, piece.error().detail, out);
  // After the disk: a replay after a crash has to read the same bytes.
  if (*piece) out.after_disk(to_peer(from, charter_.id(), input_message(id, want.epoch(), want.piece(), (*piece)->bytes())));
}

Status Home::supply_input(Time, std::uint64_t piece, std::string bytes, Actions& out) {
  if (!input_) return fail(Kind::invalid, "the job has no standard input: its manifest says so");
  GW_TRY_VOID(input_->supply(piece, std::move(bytes), out));
  if (const auto want = input_->take_answerable())
    out.after_disk(
        to_peer(want->host, charter_.id(), input_message(manifest_.thread_of(0), want->epoch, want->piece, input_->bytes_of(want->piece))));
  return ok();
}

void Home::on_keeper_filled(Time now, const PeerId& from, const JobMessage::KeeperFilled& message, Actions& out) {
  const ThreadId id{message.thread()};
  const HomeThread* thread = on_record(id, from, message.epoch());
  if (thread == nullptr) return;
  if (keepers_.on_filled(now, id, message.keeper_generation())) write(id, out);
  // The generation stays: it names who may write at the new keeper. An answer that was lost is repeated here.
  keepers_.send(id, *thread, out);
}

void Home::on_ask_kept(const PeerId& from, const JobMessage::AskKept& message, Actions& out) {
  JobMessage answer = forget_message(from, message, threads_);
  // What home has not written down yet is not a reason to forget.
  if (answer.forget().threads_size() > 0) out.after_disk(to_peer(from, charter_.id(), std::move(answer)));
}

}  // namespace gw::job
