#pragma once
// The threads of a job as its home knows them.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "job/names.h"
#include "wire/peer.pb.h"
#include "wire/records.pb.h"

namespace gw::job {

// The states of a thread at its home. Each has only what means something in it.

// It has no host. `keeper_missing`: since when it waits for its keeper to come back; kNever: it could run anywhere.
struct ThreadWaiting {
  Time keeper_missing = kNever;
};
// A host has it, or is about to: until it is `acknowledged` the assignment is repeated.
struct ThreadPlacement {
  PeerId host;
  std::uint64_t claim = 0;
  Time since{0};
  bool acknowledged = false;  // in a status of the host
  wire::pb::JobMessage::StartState start_state = wire::pb::JobMessage::NOT_YET;
  std::uint64_t stored = 0;      // effects that home had, and
  bool restore = false;          // whether the keeper may have something, as the assignment says
  std::optional<PeerId> target;  // a keeper that is being filled
  Time target_since{0};
  Time keeper_missing = kNever;  // since when the keeper is away whose image the host waits for
};
struct ThreadEnded {
  std::uint32_t exit_code = 0;
  std::string sentence;
};
struct ThreadGivenUp {
  std::uint32_t exit_code = 1;
  std::string sentence;  // why
};

// One thread at its home: what lasts, and the state it is in.
struct HomeThread {
  using Waiting = ThreadWaiting;
  using Placed = ThreadPlacement;
  using Ended = ThreadEnded;
  using Failed = ThreadGivenUp;

  std::uint32_t task = 0;  // unless it was forked
  bool forked = false;
  std::uint64_t order = 0;     // of becoming known
  std::uint64_t epoch = 0;     // 0: never placed
  std::optional<PeerId> host;  // the last one
  std::optional<PeerId> keeper;
  std::uint64_t keeper_generation = 0;
  bool kept = false;                     // the keeper may have something
  std::uint64_t determinants = 0;        // recorded before the last effect that is stored
  std::uint32_t failures = 0;            // of workers under it
  std::map<PeerId, std::string> faults;  // hosts that say that it cannot run, and why
  std::uint32_t fault_reports = 0;
  std::vector<PeerId> avoid;  // hosts where it died, the last ones
  std::uint64_t resumed = 0;
  std::uint64_t restarted = 0;
  bool placed_again = false;  // and from where it runs is not known yet
  Time due = kNever;          // when to look at it again
  std::variant<Waiting, Placed, Ended, Failed> state;

  const Placed* placed() const { return std::get_if<Placed>(&state); }
  Placed* placed() { return std::get_if<Placed>(&state); }
  bool waits() const { return std::holds_alternative<Waiting>(state); }
  bool over() const { return std::holds_alternative<Ended>(state) || std::holds_alternative<Failed>(state); }
  std::uint32_t exit_code() const;
  std::string sentence() const;
};

// All threads of a job, with the order in which those that wait are placed, and when something is due for those that are.
//
// Invariants: every thread is in exactly one state, and in the index of that state; a thread that is over stays so. Each operation costs
// O(log threads). Limit: the caller's (EffectLedger::Config::threads). A value without threads of its own.
class ThreadTable {
 public:
  static constexpr std::size_t kAvoided = 4;

  // Waits. REQUIRES: there is none of this name.
  HomeThread& add(ThreadId id);

  HomeThread* find(ThreadId id);
  const HomeThread* find(ThreadId id) const;
  HomeThread& at(ThreadId id) { return threads_.at(id); }
  const HomeThread& at(ThreadId id) const { return threads_.at(id); }
  const std::map<ThreadId, HomeThread>& all() const { return threads_; }

  // REQUIRES of these: the thread is not over.
  void wait(ThreadId id);
  // Waits, but not for a slot: its keeper is away.
  void park(ThreadId id, Time now);
  HomeThread::Placed& place(ThreadId id, const PeerId& host, std::uint64_t claim, Time now);
  // A child that runs at the host of its parent since it was forked there. REQUIRES: it was added.
  void place_forked(ThreadId id, std::uint64_t epoch, const wire::pb::JobMessage::Effects::Child& child, const PeerId& host,
                    std::uint64_t claim, Time now);
  void end(ThreadId id, HomeThread::Ended how);
  void fail(ThreadId id, HomeThread::Failed how);
  // Where it died. The oldest of more than kAvoided is forgotten.
  void avoid(ThreadId id, const PeerId& host);

  // Those that could run, in the order in which they became known.
  const std::set<std::pair<std::uint64_t, ThreadId>>& ready() const { return ready_; }
  // Those that wait for somebody, by keeper.
  const std::map<PeerId, std::set<ThreadId>>& parked() const { return parked_; }

  // REQUIRES: the thread is not over, and not parked.
  void set_keeper(ThreadId id, const std::optional<PeerId>& keeper);
  // Threads that are not over and have this keeper; nullptr: none has.
  const std::set<ThreadId>* kept_by(const PeerId& keeper) const;

  // REQUIRES: the thread is not over.
  void set_due(ThreadId id, Time at);
  // A thread whose time has come, and which has no time any more.
  std::optional<ThreadId> take_due(Time now);
  Time next_due() const { return due_.empty() ? kNever : due_.begin()->first; }

  std::size_t size() const { return threads_.size(); }
  std::size_t waiting() const { return ready_.size() + parked_count_; }
  std::size_t placed() const { return placed_; }
  std::size_t ended() const { return ended_; }
  std::size_t failed() const { return failed_; }
  std::size_t unfinished() const { return size() - ended_ - failed_; }
  // Of the tasks: the highest, and not 0 if a thread has failed.
  std::uint32_t exit_code() const { return worst_exit_; }

 private:
  void leave_state(ThreadId id, HomeThread& thread);
  void retire(ThreadId id);
  void note_exit(const HomeThread& thread, std::uint32_t code);

  std::map<ThreadId, HomeThread> threads_;
  std::set<std::pair<std::uint64_t, ThreadId>> ready_;
  std::map<PeerId, std::set<ThreadId>> parked_;
  std::size_t parked_count_ = 0;
  std::map<PeerId, std::set<ThreadId>> kept_by_;
  std::set<std::pair<Time, ThreadId>> due_;
  std::size_t placed_ = 0, ended_ = 0, failed_ = 0;
  std::uint32_t worst_exit_ = 0;
};

// As it is written down. `slots`: of the claim it is under.
wire::pb::ThreadRecord record_of(const HomeThread& thread, std::uint32_t slots);

}  // namespace gw::job
