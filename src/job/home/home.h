#pragma once
// The home of one job: knows its threads, places them, and stores their effects.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/reached.h"
#include "base/rng.h"
#include "job/actions.h"
#include "job/authority/authority.h"
#include "job/authority/manifest.h"
#include "job/effects/effect_ledger.h"
#include "job/home/claim_table.h"
#include "job/home/failure_policy.h"
#include "job/home/gang.h"
#include "job/home/home_messages.h"
#include "job/home/home_recovery.h"
#include "job/home/job_records.h"
#include "job/home/job_snapshot.h"
#include "job/home/keeper_assignment.h"
#include "job/home/loss_policy.h"
#include "job/home/mailboxes.h"
#include "job/home/output_limit.h"
#include "job/home/placement.h"
#include "job/home/predecessors.h"
#include "job/home/recovery_counters.h"
#include "job/home/run_time_limit.h"
#include "job/home/slot_acquisition.h"
#include "job/home/standard_input.h"
#include "job/home/suspension.h"
#include "job/home/task_files.h"
#include "job/home/task_flow.h"
#include "job/home/task_list.h"
#include "job/home/task_plane.h"
#include "job/home/task_reports.h"
#include "job/home/thread_table.h"
#include "job/live_peers.h"
#include "job/placing/peer_history.h"
#include "wire/records.pb.h"

namespace gw::job {

// Home of one job; docs/design/003-peers.md has the protocol, 007 who may say what. Only the ledger decides which effects are new. Threads,
// claims, placing and keepers have classes of their own; Home turns messages into calls of them.
//
// Invariants: a thread's epoch, host and keeper are on disk before any peer is told; at most one claim per peer; claimed slots never exceed
// what LossPolicy allows; a thread of which effects are stored begins anew only if it has no determinants. No step is O(threads), but for
// messages that name as many and for the loss of a peer that has as many.
// Limits: Config, the manifest's, the ledger's. A machine without I/O or threads: its peer owns and drives it.
class Home {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time keeper_patience =
        std::chrono::seconds(60);  // with a keeper that is away: then a waiting host loses the thread, which begins anew if it may
    Time fault_patience = std::chrono::seconds(20);  // until a host that reported a faulty thread may get it again; none for this peer
    StandardInput::Config input;
    Mailboxes::Config mail;
    OutputLimit::Config output;
    std::size_t children = 65536;  // that the tasks of the job fork
    SlotAcquisition::Config slots;
    Placement::Config placement;
    KeeperAssignment::Config keepers;
    TaskPlane::Config tasks;
    Gang::Config gang;
  };
  // Outlive it.
  struct Environment {
    PeerId self;
    std::uint64_t boot;
    Time wall_offset;  // from Time to nanoseconds since 1970
    const LivePeers& live_peers;
    const PublicKey& key;  // of this peer
    const wire::Signer& signer;
    Rng& rng;
    PeerHistory& history;
    CourseOfJob course_of = {};  // needed by jobs that follow others
    HomeBlobs blobs = {};        // needed by jobs whose tasks leave files for others
  };

  Home(const Config& config, const Environment& environment, Charter charter, Manifest manifest);

  // A new job: written down with its charter and manifest, then JobAccepted.
  void begin(Time now, const JobRecords::Submitted& submitted, Actions& out) {
    records_.begin(now + environment_.wall_offset, submitted, out);
    flow_.begin(threads_);
  }
  // Restores a job that an earlier boot has recorded. Kind::corrupt if the records contradict each other.
  Status recover(Time now, const HomeRecords& records);
  void cancel(Time now, Actions& out) {
    GW_REACHED("home: a job was cancelled");
    finish(now, wire::pb::JobRecord::CANCELLED, out);
  }
  // Asks all threads for their last images. When none runs any more the job is suspended (JobSuspended), and its slots are given back.
  // Kind::invalid: it is suspended, or about to be.
  Status suspend(Time now, Actions& out) {
    GW_TRY_VOID(suspension_.begin(out));
    for (const auto& [id, thread] : threads_.all())
      if (thread.placed() != nullptr) threads_.set_due(id, now);
    tasks_.recall_all(now, out);
    check_suspended(out);
    return ok();
  }
  // Places its threads again. Kind::invalid: it is not suspended, and is not about to be.
  Status resume(Time now, Actions& out) {
    GW_TRY_VOID(suspension_.end(out));
    if (claims_.empty()) gang_.begin_again();
    tick_at_ = now;
    place_ready(now, out);
    return ok();
  }
  // The thread of a suspended program that has only one. Kind::invalid: it is not suspended; Kind::unsupported: there are several;
  // Kind::not_found: its image is kept by another peer.
  Result<ThreadId> suspended_thread() const { return suspension_.only_thread(threads_, manifest_, environment_.self); }
  StreamMarks stored_effects(ThreadId thread) const { return ledger_.stored(thread); }
  std::uint64_t supplied_input() const { return input_ ? input_->supplied() : 0; }
  // The job has ended. Its last record is written in the same turn; the peer then moves the job to PastJobs.
  bool over() const { return over_; }
  const Gang& gang() const { return gang_; }

  void on_peer_lost(Time now, const PeerId& peer, Actions& out);
  void on_offer(Time now, const PeerId& from, const JobMessage::Offer& offer, Actions& out);
  void on_decline(Time now, const PeerId& from, const JobMessage::Decline& decline, Actions& out) {
    if (!may_seek() || !slots_.on_decline(now, from, decline, out)) return;
    counters_.on_refused(from, decline.sentence());
    use_claimed(now, out);
  }
  // The answer to a KeyLookup: a peer near the key that has a free slot; none: there is none.
  void on_located(Time now, std::uint32_t slot, const std::optional<PeerId>& peer, Actions& out) {
    if (may_seek()) slots_.on_located(now, slot, peer, out);
  }
  void on_no_claim(Time now, const PeerId& from, const JobMessage::ClaimName& claim, Actions& out);
  void on_wounded(Time now, const PeerId& from, const JobMessage::ClaimName& claim, Actions& out) {
    GW_REACHED("home: held slots were taken away for an older job");
    counters_.on_refused(from, "it needed the slots that it held for this job for an older one");
    on_no_claim(now, from, claim, out);
  }
  void on_claim_state(Time now, const PeerId& from, const JobMessage::ClaimState& state, Actions& out) {
    Claim* claim = claims_.find(from);
    if (claim == nullptr || claim->claim != state.claim()) return out.send(from, charter_.id(), release_message(state.claim()));
    claim->last_seen = now;
    gang_.on_answer(from, state.round(), state.held());
    advance_gang(now, out);
  }
  void on_status(Time now, const PeerId& from, const JobMessage::Status& status, Actions& out);
  // waited: the message was kept until its files were stored.
  enum class Files : std::uint8_t { new_here, waited };
  void on_effects(Time now, const PeerId& from, const JobMessage::Effects& message, Actions& out, Files files = Files::new_here);
  void on_keeper_filled(Time now, const PeerId& from, const JobMessage::KeeperFilled& message, Actions& out) {
    const ThreadId id{message.thread()};
    if (on_record(id, from, message.epoch()) == nullptr) return;
    if (keepers_.on_filled(now, id, message.keeper_generation())) records_.write(id, out);
    // The generation stays: it names who may write at the new keeper. An answer that was lost is repeated here.
    keepers_.send(id, *threads_.find(id), out);
    if (suspension_.wanted()) threads_.set_due(id, now);  // its last image may have waited for this
  }
  void on_ask_kept(Time now, const PeerId& from, const JobMessage::AskKept& message, Actions& out);
  void on_thread_failed(Time now, const PeerId& from, const JobMessage::ThreadName& message, Actions& out) {
    const ThreadId id{message.thread()};
    if (on_record(id, from, message.epoch()) == nullptr) return;
    on_fault(now, id, message.failure(), out, message.kept_state_bad() ? Fault::kept_state : Fault::program);
  }
  void on_task_report(Time now, const PeerId& from, const JobMessage::TaskReport& report, Actions& out) {
    if (files_.admit(from, report, out)) take_report(now, from, report, out);
  }
  void on_want_files(const PeerId& from, const JobMessage::WantFiles& want, Actions& out) const {
    if (!manifest_.graph() || claims_.find(from) == nullptr) return;
    JobMessage answer = files_.answer(want, [this](std::uint32_t task) {
      if (task >= manifest_.tasks()) return false;
      const HomeThread* thread = threads_.find(manifest_.thread_of(task));
      return thread != nullptr ? thread->over() : tasks_.table().state(task) == TaskTable::State::over;
    });
    if (!answer.files_are().files().empty()) out.send(from, charter_.id(), std::move(answer));
  }
  // A blob of the job is on the disk of this peer.
  // No peer of the job has a piece of its code or input any more, this one included.
  void on_blob_lost(const Hash256& hash) { reports_.on_blob_lost(hash); }
  void on_blob_stored(Time now, const Hash256& hash, Actions& out) {
    reports_.on_blob_stored(hash);
    for (const std::uint32_t task : files_.on_blob_stored(hash)) flow_.on_files_ready(task);
    while (const auto ready = over_ ? std::nullopt : files_.take_ready()) {
      const auto& [from, message] = *ready;
      message.has_effects() ? on_effects(now, from, message.effects(), out, Files::waited)
                            : take_report(now, from, message.task_report(), out);
    }
    if (!over_ && flow_.take_released() && !suspension_.wanted()) tasks_.feed_all(now, out);
  }
  void on_suspended(Time now, const PeerId& from, const JobMessage::ThreadName& name, Actions& out);
  void on_want_input(Time now, const PeerId& from, const JobMessage::WantInput& want, Actions& out);
  void on_want_mail(Time now, const PeerId& from, const JobMessage::WantMail& want, Actions& out) {
    const ThreadId id{want.thread()};
    if (on_record(id, from, want.epoch()) == nullptr) return out.send(from, charter_.id(), drop_message(id, want.epoch()));
    const Status answered = mail_.on_want(id, {from, want.epoch(), want.next(), want.in_image(), want.waits()}, out);
    if (!answered && answered.error().kind == Kind::not_found) return fail_thread(now, id, answered.error().detail, out);
    if (!answered) return on_fault(now, id, answered.error().detail, out);
    if (!want.waits()) return;
    place_ready(now, out);  // its slot is free
    if (may_run()) tasks_.feed(now, from, out);
  }
  // As StandardInput::supply(). Kind::invalid too if the job reads none.
  Status supply_input(std::uint64_t piece, std::string bytes, Actions& out) {
    return input_ ? input_->supply(piece, std::move(bytes), out) : Status(fail(Kind::invalid, "the job has no standard input"));
  }
  void on_tick(Time now, Actions& out);
  Time next_deadline() const {
    return over_ ? kNever : std::min({tick_at_, threads_.next_due(), may_seek() ? slots_.next_deadline() : kNever});
  }

  const Charter& charter() const { return charter_; }
  // The turn is over: writes what is written once in it, however many threads have changed.
  void end_turn(Actions& out) {
    if (over_) return;
    mail_.end_turn(out);
    records_.end_turn(out);
  }
  // The roster, if it has changed since it was taken last.
  std::optional<wire::pb::SignedRoster> take_roster_change() { return roster_.take_change(); }
  // The state of the job, for people and checkers.
  JobSnapshot snapshot() const { return snapshot_of(record(), manifest_, tables()); }
  const ClaimTable& claims() const { return claims_; }
  TaskPage list_tasks(const TaskQuery& query) const { return job::list_tasks(manifest_, tables(), query); }
  // The record of the job at its end: of bounded size, because threads and peers are in the last entry of the output.
  wire::pb::JobRecord record() const {
    wire::pb::JobRecord record = records_.record();
    if (suspension_.reached()) record.set_state(wire::pb::JobRecord::SUSPENDED);
    return record;
  }
  std::size_t threads() const { return threads_.size(); }
  // Threads and tasks that have ended well, and that have failed.
  std::uint64_t ended() const { return threads_.ended() + tasks_.table().ended(); }
  std::uint64_t failed() const { return threads_.failed() + tasks_.table().failed(); }
  const TaskSet& skipped_tasks() const { return tasks_.table().skipped_tasks(); }
  std::size_t hosts() const { return claims_.size(); }
  std::size_t running() const { return running_in(threads_, tasks_.table(), claims_); }
  std::uint32_t tasks() const { return manifest_.tasks(); }
  const Manifest& manifest() const { return manifest_; }

 private:
  HomeTables tables() const {
    const bool waits = !suspension_.wanted() && threads_.waiting() + tasks_.table().waiting() > 0;
    HomeTables tables{threads_, tasks_.table(), claims_, flow_, suspension_.wanted() ? Reason::suspended : Reason::ok};
    if (!waits) return tables;
    if (predecessors_.waiting()) {
      tables.no_slot = Reason::predecessor;
      return tables;
    }
    tables.no_slot = !gang_.begun() ? gang_.why(claims_, environment_.live_peers)
                                    : losses_.why_fewer(claims_.slots()).value_or(slots_.why_no_slot(tick_at_));
    tables.absent = slots_.why_not(tick_at_);
    return tables;
  }

  // --- the course of the job
  HomeThread& add_thread(ThreadId id) {
    if (!ledger_.knows(id)) GW_ASSERT(ledger_.add(id).has_value());  // it is new
    return threads_.add(id);
  }
  void finish(Time now, wire::pb::JobRecord::State state, Actions& out, std::string failure = {});
  // Ends the job if all its work is done, or if more tasks have failed than its policy allows.
  bool finish_if_done(Time now, Actions& out);
  // Ends the job before all its work is done.
  void stop(Time now, std::string sentence, Actions& out) {
    records_.set_sentence(std::move(sentence));
    finish(now, wire::pb::JobRecord::DONE, out);
  }
  // Ends the threads that have used up their time, and the job if its time is over.
  void end_overdue(Time now, Actions& out);
  // The records of a suspended job, and the images at its keepers, stay.
  void check_suspended(Actions& out) {
    if (!over_ && suspension_.complete(threads_.placed(), out)) slots_.release_all(out);
  }

  // Whether work may be given to the hosts.
  bool may_run() const { return !suspension_.wanted() && gang_.begun(); }
  void advance_gang(Time now, Actions& out) {
    if (!slots_.advance_gang(now, out) || suspension_.wanted()) return;
    place_ready(now, out);
    tasks_.feed_all(now, out);
  }

  std::size_t unfinished() const { return threads_.unfinished() + tasks_.table().unfinished(); }

  // --- tasks
  void take_report(Time now, const PeerId& from, const JobMessage::TaskReport& report, Actions& out);
  void promote(Time now, const PeerId& from, std::uint32_t task, Actions& out);

  // --- claims
  bool may_seek() const { return !suspension_.wanted() && !predecessors_.waiting(); }
  void seek(Time now, Actions& out) {
    if (!may_seek()) return;
    slots_.seek(now, out);
    use_claimed(now, out);
  }
  // Gives work to the hosts that were claimed just now.
  void use_claimed(Time now, Actions& out) {
    for (const PeerId& host : slots_.take_claimed()) {
      place_ready(now, out);
      if (may_run()) tasks_.feed(now, host, out);
    }
  }
  // The host has ended the claim, or home has left it: the caller places its threads again.
  void lose_claim(Time now, const PeerId& peer, Actions& out);

  // --- placing
  void place_ready(Time now, Actions& out);
  // True: its keepers are away, and it waits for them.
  bool park_without_keeper(Time now, ThreadId id) {
    if (keepers_.is_there(threads_.at(id))) return false;
    threads_.park(id, now);
    if (may_begin_anew(id)) threads_.set_due(id, now + config_.keeper_patience);
    return true;
  }
  // promoted: the host runs it already, as a task.
  enum class Start : std::uint8_t { by_host, promoted };
  void place(Time now, ThreadId id, const PeerId& host, Actions& out, Start start = Start::by_host);
  void send_assign(Time now, ThreadId id, Actions& out);
  bool may_begin_anew(ThreadId id) const;
  void on_due(Time now, ThreadId id, Actions& out);
  void tend_waiting_host(Time now, ThreadId id, Actions& out);

  // --- threads
  HomeThread* on_record(ThreadId id, const PeerId& from, std::uint64_t epoch);
  void note_held(Time now, const PeerId& from, const JobMessage::Status::Held& held, const std::string& failure, Actions& out);
  // `keeper`: that gave the host the state of the thread; empty: it has only one, or home knows it.
  void note_source(ThreadId id, const std::string& keeper, Actions& out) {
    if (!keeper.empty() && keepers_.on_restored(id, PeerId::from(keeper))) records_.write(id, out);
  }
  void note_start_state(Time now, ThreadId id, JobMessage::StartState start_state, Actions& out);
  // Whether the thread may have killed its worker, or was given back by a host that did not run it.
  enum class Blame : std::uint8_t { thread, host };
  void lose(Time now, ThreadId id, std::string_view failure, Actions& out, Blame blame = Blame::thread);
  void leave_host(Time now, ThreadId id, const PeerId& host) {
    run_time_.on_left(now + environment_.wall_offset, id, threads_.at(id));
    claims_.detach(host, id);
    mail_.on_left(id);
    if (Claim* claim = claims_.find(host)) claim->idle_since = now;
  }
  enum class Fault : std::uint8_t { program, kept_state };
  void on_fault(Time now, ThreadId id, const std::string& sentence, Actions& out, Fault fault = Fault::program);
  // The keepers have nothing, or other state than they claimed, and the program is not at fault.
  void abandon_kept_state(Time now, ThreadId id, Actions& out) {
    GW_REACHED("home: a thread begins anew because its keeper has lost it");
    lose(now, id, {}, out);
    threads_.begin_anew(id);
    place_ready(now, out);
  }
  void end_thread(Time now, ThreadId id, const Effect::End& end, Actions& out);
  void run_again(Time now, ThreadId id, const Effect& end, Actions& out);
  void fail_thread(Time now, ThreadId id, std::string sentence, Actions& out);
  void after_end(Time now, ThreadId id, const PeerId& host, Actions& out) {
    leave_host(now, id, host);
    mail_.on_over(id, out);
    records_.write(id, out);
    const HomeThread& thread = threads_.at(id);
    const bool failed = std::holds_alternative<HomeThread::Failed>(thread.state);
    if (!thread.forked) flow_.on_over(thread.task, failed ? TaskFlow::End::badly : TaskFlow::End::well, out);
    if (finish_if_done(now, out)) return;
    check_suspended(out);
    place_ready(now, out);
    if (!may_run()) return;
    flow_.take_released() ? tasks_.feed_all(now, out) : tasks_.feed(now, host, out);
  }
  Status may_store(const Effect& effect) const {
    if (wire::stream_of(effect) == kMailStream) return ok();  // is no output
    const Status fits = records_.output().check(effect);
    return fits ? files_.check(effect) : fits;
  }
  void store(const Effect& effect, const EndFacts& facts, Actions& out) {
    records_.append(effect.has_end() ? end_entry(effect, facts) : entry_of(effect), out);
    out.after_disk(Notify{EffectStored{charter_.id(), effect}});
    files_.on_effect(effect, out);
  }
  bool take_effect(Time now, const JobMessage::Effects& message, const Effect& effect, Actions& out);
  void add_child(const HomeThread& parent, ThreadId id, Actions& out);

  const Config config_;
  const Environment environment_;
  const Charter charter_;
  const Manifest manifest_;
  LeaderRoster roster_;
  EffectLedger ledger_;
  std::optional<StandardInput> input_;  // none: it is empty
  ThreadTable threads_;
  ClaimTable claims_;
  TaskPlane tasks_;
  Mailboxes mail_;
  TaskFiles files_;
  TaskFlow flow_;
  Placement placement_;
  KeeperAssignment keepers_;
  LossPolicy losses_;
  Gang gang_;
  Suspension suspension_;
  FailurePolicy policy_;
  Predecessors predecessors_;
  RunTimeLimit run_time_;
  RecoveryCounters counters_;
  JobRecords records_;
  SlotAcquisition slots_;
  TaskReports reports_;
  Time tick_at_{0};
  bool over_ = false;
};

}  // namespace gw::job
