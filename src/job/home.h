#pragma once
// The home of one job: knows its threads, places them, and takes what they do.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "job/actions.h"
#include "job/authority.h"
#include "job/blob_references.h"
#include "job/effect_ledger.h"
#include "job/job_snapshot.h"
#include "job/live_peers.h"
#include "job/manifest.h"
#include "job/recovery_counters.h"
#include "wire/records.pb.h"

namespace gw::job {

// What a home has found on disk.
struct HomeRecords {
  wire::pb::JobRecord job;
  wire::pb::RecoveryCountersRecord counters;
  std::map<ThreadId, wire::pb::ThreadRecord> threads;
  std::map<ThreadId, std::map<std::uint64_t, Effect>> effects;  // by sequence
};

// Home of one job; docs/design/003-peers.md has the protocol. Effects go through the ledger and nothing else decides what counts.
//
// Invariants: a thread's epoch, host and keeper are on disk before anybody is told; at most one claim per peer; claimed slots never exceed
// what the manifest wants. Limits: Config, the manifest's, the ledger's. A machine without I/O or threads: its peer owns and drives it.
class Home {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time renew = std::chrono::seconds(5);
    Time silence = std::chrono::seconds(30);  // of a claim whose peer seems alive
    Time offer_wait = std::chrono::seconds(3);
    Time keeper_patience = std::chrono::seconds(60);  // for a keeper that is dead, when the host is too
    Time idle = std::chrono::seconds(10);             // a claim with nothing to do
    Time batch = std::chrono::seconds(2);             // work given in advance
    std::size_t threads = 65536;
    std::size_t threads_per_claim = 4096;
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
  void on_tick(Time now, Actions& out);
  Time next_deadline() const;

  const Charter& charter() const { return charter_; }
  const Manifest& manifest() const { return manifest_; }
  // The roster, if it has changed since it was taken last.
  std::optional<wire::pb::SignedRoster> take_roster_change() { return roster_.take_change(); }
  // For people and checkers.
  JobSnapshot snapshot() const;
  // As it is written at the end.
  wire::pb::JobRecord record() const;
  std::size_t threads() const { return threads_.size(); }

 private:
  using State = wire::pb::ThreadRecord;
  struct Thread {
    State::State state = State::WAITING;
    std::uint32_t task = 0;  // unless it was forked
    bool forked = false;
    std::uint64_t order = 0;  // of becoming known
    std::uint64_t epoch = 0;  // 0: never placed
    PeerId host;
    std::uint64_t claim = 0;
    bool host_acknowledged = false;  // in a status of the host
    JobMessage::StartState start_state = JobMessage::NOT_YET;
    Time assign_again{0};
    std::optional<PeerId> keeper;
    std::uint64_t keeper_generation = 0;
    bool restore = false;          // the keeper may have something
    std::optional<PeerId> target;  // being filled
    Time change_again{0};
    Time keeper_missing = kNever;  // since when, while the thread waits for it
    std::uint32_t failures = 0;
    std::uint32_t exit_code = 0;
    std::uint64_t resumed = 0;
    std::uint64_t restarted = 0;
    bool placed_again = false;  // and from where it runs is not known yet
    std::string sentence;
  };
  struct Claim {
    std::uint64_t claim = 0;
    std::uint32_t slots = 0;
    std::uint64_t status = 0;  // statuses up to this number are old
    Time since{0};
    Time last_seen{0};
    Time renew_at{0};
    Time idle_since{0};
    std::uint64_t finished = 0;
    std::set<ThreadId> threads;
  };

  // home.cc
  Thread& add_thread(ThreadId id);
  void write(ThreadId id, const Thread& thread, Actions& out) const;
  void write_counters(Actions& out) const;
  Status recover_thread(Time now, ThreadId id, const HomeRecords& records, std::vector<ThreadId>& children);
  Status feed_ledger(ThreadId id, const HomeRecords& records, std::vector<ThreadId>& children);
  void finish(Time now, wire::pb::JobRecord::State state, Actions& out);

  // home_snapshot.cc
  wire::pb::ThreadRecord record_of(const Thread& thread) const;
  std::vector<ThreadId> in_order() const;
  Reason why_no_slot() const;
  std::uint32_t exit_code() const;

  // home_placing.cc
  void seek(Time now, Actions& out);
  void place_waiting(Time now, Actions& out);
  enum class Readiness : std::uint8_t { ready, later, never };
  Readiness readiness(Time now, Thread& thread);
  void give_up_keeper(Time now, ThreadId id, Thread& thread, Actions& out);
  Claim* roomiest(Time now, PeerId& host);
  std::size_t queue_target(Time now, const Claim& claim) const;
  void place(Time now, ThreadId id, Thread& thread, const PeerId& host, Actions& out);
  std::optional<PeerId> choose_keeper(const PeerId& host);
  wire::pb::SignedGrant grant_of(ThreadId id, const Thread& thread, const PeerId& keeper) const;
  void send_assign(ThreadId id, const Thread& thread, Actions& out) const;
  void send_claim(const PeerId& peer, Claim& claim, Time now, Actions& out) const;
  void send_release(const PeerId& peer, std::uint64_t claim, Actions& out) const;
  void lose_claim(Time now, const PeerId& peer, Actions& out);
  void tend_claims(Time now, Actions& out);

  // home_threads.cc
  void lose(Time now, ThreadId id, std::string_view failure, Actions& out);
  void note_start_state(ThreadId id, Thread& thread, JobMessage::StartState start_state, Actions& out);
  void leave_host(Time now, ThreadId id, Thread& thread);
  void end_thread(Time now, ThreadId id, Thread& thread, Actions& out);
  void fail_thread(Time now, ThreadId id, std::string sentence, Actions& out);
  bool take_effect(Time now, const JobMessage::Effects& message, const Effect& effect, Actions& out);
  bool is_kept(const JobMessage::Effects::Child* child) const;
  void add_child(const JobMessage::Effects& message, const Effect& effect, const Thread& parent, Actions& out);
  void send_drop(const PeerId& to, ThreadId thread, std::uint64_t epoch, Actions& out) const;
  void tend_keeper(Time now, ThreadId id, Thread& thread, Actions& out);
  void wait_for_keeper(Time now, ThreadId id, Thread& thread, Actions& out);
  void send_keeper(ThreadId id, const Thread& thread, Actions& out) const;

  const Config config_;
  const Environment environment_;
  const Charter charter_;
  const Manifest manifest_;
  LeaderRoster roster_;
  EffectLedger ledger_;
  std::map<ThreadId, Thread> threads_;
  std::set<std::pair<std::uint64_t, ThreadId>> waiting_;  // by order
  std::set<ThreadId> placed_;
  std::map<PeerId, Claim> claims_;
  std::map<PeerId, Time> asked_;  // reservations on their way, until when
  std::size_t unfinished_ = 0;
  std::uint64_t failed_ = 0;
  RecoveryCounters counters_;
  std::uint64_t next_keeper_generation_;
  wire::pb::JobRecord::State state_ = wire::pb::JobRecord::RUNNING;
  Time submitted_at_{0}, ended_at_{0};  // since 1970
  Time seek_at_{0};
  Time tick_at_{0};
  bool over_ = false;
};

}  // namespace gw::job
