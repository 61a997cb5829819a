// The life of a job: its beginning, its records, its end.

#include "job/home.h"

#include <algorithm>

#include "base/reached.h"
#include "job/records.h"

namespace gw::job {

Home::Home(const Config& config, const Environment& environment, Charter charter, Manifest manifest)
    : config_(config),
      environment_(environment),
      charter_(std::move(charter)),
      manifest_(std::move(manifest)),
      roster_(charter_.id(), environment.key, environment.signer, environment.boot),
      ledger_(EffectLedger::Config{.threads = config.threads}),
      next_keeper_generation_(environment.boot << 32) {
  for (std::uint32_t task = 0; task < manifest_.tasks(); ++task) {
    Thread& thread = add_thread(manifest_.thread_of(task));
    thread.task = task;
  }
}

Home::Thread& Home::add_thread(ThreadId id) {
  const auto [found, fresh] = threads_.try_emplace(id);
  GW_ASSERT(fresh);
  if (!ledger_.knows(id)) GW_ASSERT(ledger_.add(id).has_value());
  Thread& thread = found->second;
  thread.order = threads_.size();
  ++unfinished_;
  waiting_.emplace(thread.order, id);
  return thread;
}

void Home::begin(Time now, ByteView manifest, Actions& out) {
  seek_at_ = now;
  submitted_at_ = now + environment_.wall_offset;
  wire::pb::JobRecord record = this->record();
  record.set_charter(charter_.bytes());
  record.set_manifest(std::string(as_text(manifest)));
  const RecordKey key{.kind = RecordKind::job, .job = charter_.id()};
  out.record(key.encode(), record.SerializeAsString());
  out.after_disk(Notify{JobAccepted{charter_.id()}});
}

void Home::write(ThreadId id, const Thread& thread, Actions& out) const {
  out.record(RecordKey{.kind = RecordKind::thread, .job = charter_.id(), .thread = id}.encode(), record_of(thread).SerializeAsString());
}

void Home::write_counters(Actions& out) const {
  out.record(RecordKey{.kind = RecordKind::counters, .job = charter_.id()}.encode(), counters_.record().SerializeAsString());
}

// Children are known from the effects of their parents, so parents come first.
Status Home::recover(Time now, const HomeRecords& records) {
  GW_REACHED("home: a job was recovered");
  counters_ = RecoveryCounters(records.counters);
  counters_.forget_finished();
  std::vector<ThreadId> order;
  for (std::uint32_t task = 0; task < manifest_.tasks(); ++task) order.push_back(manifest_.thread_of(task));
  for (std::size_t next = 0; next < order.size(); ++next) {
    std::vector<ThreadId> children;
    GW_TRY_VOID(recover_thread(now, order[next], records, children));
    order.insert(order.end(), children.begin(), children.end());
  }
  submitted_at_ = Time(static_cast<std::int64_t>(records.job.submitted_at_ns()));
  seek_at_ = tick_at_ = now;
  return ok();
}

Status Home::feed_ledger(ThreadId id, const HomeRecords& records, std::vector<ThreadId>& children) {
  const auto effects = records.effects.find(id);
  if (effects == records.effects.end()) return ok();
  for (const auto& [sequence, effect] : effects->second) {
    GW_TRY_VOID(ledger_.adopt(id, effect.epoch(), 0));
    GW_TRY(const auto verdict, ledger_.accept(effect));
    if (verdict != EffectLedger::Verdict::fresh)
      return fail(Kind::corrupt, "effect {} of thread {} is recorded twice", sequence, id.value());
    if (!effect.has_fork()) continue;
    const ThreadId child{effect.fork().child()};
    if (!records.threads.contains(child)) return fail(Kind::corrupt, "the record of thread {} is lost", child.value());
    add_thread(child).forked = true;
    children.push_back(child);
  }
  return ok();
}

Status Home::recover_thread(Time now, ThreadId id, const HomeRecords& records, std::vector<ThreadId>& children) {
  GW_TRY_VOID(feed_ledger(id, records, children));
  const auto found = records.threads.find(id);
  if (found == records.threads.end()) return ok();  // never placed
  const wire::pb::ThreadRecord& record = found->second;
  Thread& thread = threads_.at(id);
  thread.state = record.state();
  thread.epoch = record.epoch();
  thread.failures = record.failures();
  thread.exit_code = record.exit_code();
  thread.resumed = record.resumed();
  thread.restarted = record.restarted();
  thread.placed_again = record.placed_again();
  thread.sentence = record.sentence();
  if (!record.host().empty()) thread.host = PeerId::from(record.host());
  thread.keeper_generation = record.keeper_generation();
  thread.restore = record.restore();
  if (!record.keeper().empty()) {
    thread.keeper = PeerId::from(record.keeper());
    roster_.add_keeper(*thread.keeper);
  }
  if (thread.epoch > 0) GW_TRY_VOID(ledger_.adopt(id, thread.epoch, 0));
  if (thread.state == State::WAITING) return ok();
  waiting_.erase({thread.order, id});
  if (thread.state != State::PLACED) {
    --unfinished_;
    if (thread.state == State::FAILED) ++failed_;
    if (thread.state == State::ENDED) counters_.on_finished(thread.host);
    return ok();
  }
  thread.claim = record.claim();
  thread.host_acknowledged = true;  // may have run there: if the host does not have it, its epoch is used up
  placed_.insert(id);
  roster_.add_host(thread.host);
  Claim fresh{.claim = thread.claim, .slots = record.slots(), .since = now, .last_seen = now, .renew_at = now, .idle_since = now};
  Claim& claim = claims_.try_emplace(thread.host, std::move(fresh)).first->second;
  if (claim.claim != thread.claim) return fail(Kind::corrupt, "two claims at peer {} are recorded", thread.host.brief());
  claim.threads.insert(id);
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
  for (const auto& [id, thread] : threads_)
    out.record(RecordKey{.kind = RecordKind::thread, .job = charter_.id(), .thread = id}.encode(), std::nullopt);
  out.record(RecordKey{.kind = RecordKind::counters, .job = charter_.id()}.encode(), std::nullopt);
  out.after_disk(Notify{JobOver{.job = charter_.id(),
                                .threads = threads_.size(),
                                .failed = failed_,
                                .exit_code = exit_code(),
                                .cancelled = state == wire::pb::JobRecord::CANCELLED}});
  // A member that does not hear this sends its status, and is told then.
  for (const auto& [peer, claim] : claims_) send_release(peer, claim.claim, out);
  claims_.clear();
  over_ = true;
}

void Home::on_tick(Time now, Actions& out) {
  if (over_ || now < tick_at_) return;
  tick_at_ = now + config_.retry / 2;
  tend_claims(now, out);
  for (const ThreadId id : std::set<ThreadId>(placed_)) {
    Thread& thread = threads_.at(id);
    if (!thread.host_acknowledged && now >= thread.assign_again) {
      GW_REACHED("home: an assignment was repeated");
      // In a new epoch: the host may have run it and lost it again, before it could say so.
      place(now, id, thread, PeerId(thread.host), out);
    }
    tend_keeper(now, id, thread, out);
  }
  place_waiting(now, out);
  seek(now, out);
}

Time Home::next_deadline() const { return over_ ? kNever : tick_at_; }

}  // namespace gw::job
