#pragma once
// The home of one job: knows its threads, places them, and takes what they do.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "job/actions.h"
#include "job/authority.h"
#include "job/claim_table.h"
#include "job/effect_ledger.h"
#include "job/home_recovery.h"
#include "job/job_snapshot.h"
#include "job/keeper_assignment.h"
#include "job/live_peers.h"
#include "job/manifest.h"
#include "job/placement.h"
#include "job/recovery_counters.h"
#include "job/standard_input.h"
#include "job/thread_table.h"
#include "wire/records.pb.h"

namespace gw::job {

// Home of one job; docs/design/003-peers.md has the protocol, 007 who may say what. Effects go through the ledger and nothing else decides
// what counts. Threads, claims, placing and keepers have classes of their own; this one turns what is heard into changes of theirs.
//
// Invariants: a thread's epoch, host and keeper are on disk before anybody is told; at most one claim per peer; claimed slots never exceed
// what the manifest wants; a thread of which effects are stored begins anew only if it has no determinants. No step is O(threads), but for
// messages that name as many and for the loss of a peer that has as many.
// Limits: Config, the manifest's, the ledger's. A machine without I/O or threads: its peer owns and drives it.
class Home {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time renew = std::chrono::seconds(5);
    Time silence = std::chrono::seconds(30);  // of a claim whose peer seems alive
    Time keeper_patience =
        std::chrono::seconds(60);  // with a keeper that is away, before its threads leave their hosts, and those that may begin anew
    Time idle = std::chrono::seconds(10);  // a claim with nothing to do
    std::uint32_t faults = 3;              // reports that a thread cannot run, if hosts do not agree before
    StandardInput::Config input;
    std::size_t threads = 65536;
    Placement::Config placement;
    KeeperAssignment::Config keepers;
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
  };

  Home(const Config& config, const Environment& environment, Charter charter, Manifest manifest);

  // A new job: written down with its charter and manifest, then JobAccepted.
  void begin(Time now, ByteView manifest, Actions& out);
  // One that was there before. Kind::corrupt if the records contradict each other.
  Status recover(Time now, const HomeRecords& records);
  void cancel(Time now, Actions& out);
  // Everything is written down and nothing is left to do but to forget the job.
  bool over() const { return over_; }

  void on_peer_lost(Time now, const PeerId& peer, Actions& out);
  void on_offer(Time now, const PeerId& from, const JobMessage::Offer& offer, Actions& out);
  void on_no_claim(Time now, const PeerId& from, const JobMessage::ClaimName& claim, Actions& out);
  void on_status(Time now, const PeerId& from, const JobMessage::Status& status, Actions& out);
  void on_effects(Time now, const PeerId& from, const JobMessage::Effects& message, Actions& out);
  void on_keeper_filled(Time now, const PeerId& from, const JobMessage::KeeperFilled& message, Actions& out);
  void on_ask_kept(const PeerId& from, const JobMessage::AskKept& message, Actions& out);
  void on_thread_failed(Time now, const PeerId& from, const JobMessage::ThreadName& message, Actions& out);
  void on_want_input(Time now, const PeerId& from, const JobMessage::WantInput& want, Actions& out);
  // As StandardInput::supply(). Kind::invalid too if the job reads none.
  Status supply_input(Time now, std::uint64_t piece, std::string bytes, Actions& out);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const;

  const Charter& charter() const { return charter_; }
  // The roster, if it has changed since it was taken last.
  std::optional<wire::pb::SignedRoster> take_roster_change() { return roster_.take_change(); }
  // For people and checkers.
  JobSnapshot snapshot() const;
  // As it is written at the end.
  wire::pb::JobRecord record() const;
  std::size_t threads() const { return threads_.size(); }
  std::uint32_t tasks() const { return manifest_.tasks(); }

 private:
  // --- its life
  HomeThread& add_thread(ThreadId id);
  void write(ThreadId id, Actions& out) const;
  void write_counters(Actions& out) const;
  void finish(Time now, wire::pb::JobRecord::State state, Actions& out);

  // --- claims
  void seek(Time now, Actions& out);
  void send_claim(const PeerId& peer, Claim& claim, Time now, Actions& out) const;
  void lose_claim(Time now, const PeerId& peer, Actions& out);
  void tend_claims(Time now, Actions& out);
  bool is_stalled(Time now, const PeerId& peer, const Claim& claim) const;

  // --- placing
  void place_ready(Time now, Actions& out);
  void place(Time now, ThreadId id, const PeerId& host, Actions& out);
  void send_assign(Time now, ThreadId id, Actions& out);
  bool may_begin_anew(ThreadId id) const;
  void unpark(const PeerId& keeper);
  void on_due(Time now, ThreadId id, Actions& out);
  void tend_waiting_host(Time now, ThreadId id, Actions& out);

  // --- threads
  HomeThread* on_record(ThreadId id, const PeerId& from, std::uint64_t epoch);
  void note_held(Time now, const PeerId& from, const JobMessage::Status::Held& held, const std::string& failure, Actions& out);
  void note_start_state(Time now, ThreadId id, JobMessage::StartState start_state, Actions& out);
  void lose(Time now, ThreadId id, std::string_view failure, Actions& out);
  void leave_host(Time now, ThreadId id, const PeerId& host);
  void on_fault(Time now, ThreadId id, const std::string& sentence, Actions& out);
  void end_thread(Time now, ThreadId id, const Effect::End& end, Actions& out);
  void fail_thread(Time now, ThreadId id, std::string sentence, Actions& out);
  void after_end(Time now, ThreadId id, const PeerId& host, Actions& out);
  bool take_effect(Time now, const JobMessage::Effects& message, const Effect& effect, Actions& out);
  void add_child(Time now, const JobMessage::Effects& message, const Effect& effect, const PeerId& host, Actions& out);

  const Config config_;
  const Environment environment_;
  const Charter charter_;
  const Manifest manifest_;
  LeaderRoster roster_;
  EffectLedger ledger_;
  std::optional<StandardInput> input_;  // none: it is empty
  ThreadTable threads_;
  ClaimTable claims_;
  Placement placement_;
  KeeperAssignment keepers_;
  RecoveryCounters counters_;
  wire::pb::JobRecord::State state_ = wire::pb::JobRecord::RUNNING;
  Time submitted_at_{0}, ended_at_{0};  // since 1970
  Time seek_at_{0};
  Time tick_at_{0};
  bool over_ = false;
};

}  // namespace gw::job
