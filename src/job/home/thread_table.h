#pragma once
// The threads of a job as its home knows them.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "job/effects/effect_gate.h"
#include "job/names.h"
#include "wire/peer.pb.h"
#include "wire/records.pb.h"

namespace gw::job {

// The states of a thread at its home. Each state has only its own data.

// The thread has no host. `keeper_missing`: since when it waits for one of its keepers to come back; kNever: it could run. `accuser`: a
// host that reported that the thread cannot run, so that another host has to try.
struct ThreadWaiting {
  Time keeper_missing = kNever;
  std::optional<PeerId> accuser = std::nullopt;
};
// The thread is assigned to a host. Home repeats the assignment until it is `acknowledged`.
struct ThreadPlacement {
  PeerId host;
  std::uint64_t claim = 0;
  Time since{0};
  bool acknowledged = false;  // in a status of the host
  bool suspend_asked = false;
  bool keeper_stalled = false;  // the host reported so
  bool source_known = false;    // the keeper that gave the host the thread's state has been reported
  wire::pb::JobMessage::StartState start_state = wire::pb::JobMessage::NOT_YET;
  StreamMarks stored;            // effects that home had stored when it made the assignment
  bool promoted = false;         // the host runs it already, as a task
  bool restore = false;          // the assignment says that the keeper may have an image
  std::optional<PeerId> target;  // a keeper that is being filled
  Time target_since{0};
  std::map<PeerId, std::uint64_t> kept_changes;  // as each keeper said last
  Time keeper_missing = kNever;                  // since when no keeper is there, although the host waits for an image
};
struct ThreadEnded {
  std::uint32_t exit_code = 0;
  std::string sentence;
};
struct ThreadGivenUp {
  std::uint32_t exit_code = 1;
  std::string sentence;  // why
};

// A thread at its home: facts that hold in every state, and the state.
struct HomeThread {
  using Waiting = ThreadWaiting;
  using Placed = ThreadPlacement;
  using Ended = ThreadEnded;
  using Failed = ThreadGivenUp;

  std::uint32_t task = 0;  // meaningless if forked
  bool forked = false;
  std::uint64_t order = 0;      // position in the order in which threads became known
  std::uint64_t epoch = 0;      // 0: never placed
  std::optional<PeerId> host;   // the last one
  std::vector<PeerId> keepers;  // on record: each has all that is stable
  std::uint64_t keeper_generation = 0;
  std::uint64_t keeper_order = 0;        // of the last change of the keepers; 0: home has made none since its start
  bool kept = false;                     // the keepers may have something
  std::vector<PeerId> bad_keepers;       // had lost what they kept, or kept something else
  std::optional<PeerId> former_keeper;   // may still have most pages
  std::optional<PeerId> preferred;       // until the first placement: the host of the thread that forked it, which has its pages
  std::uint64_t determinants = 0;        // recorded before the last effect that is stored
  std::uint32_t failures = 0;            // of workers that ran it
  std::uint32_t failed_runs = 0;         // that were repeated
  Time placed_first{0};                  // since 1970, in this run; 0: not yet
  Time ran{0};                           // of this run: its time at hosts before the present one
  Time started_here{0};                  // since 1970, by its present host; 0: not yet
  std::map<PeerId, std::string> faults;  // hosts that report that it cannot run, and why
  std::uint32_t fault_reports = 0;
  std::vector<PeerId> avoid;  // hosts where it died, the last ones
  std::uint64_t resumed = 0;
  std::uint64_t restarted = 0;
  bool placed_again = false;  // after a loss; the host has not reported yet whether it resumed or restarted
  Time due = kNever;          // when to look at it again
  std::variant<Waiting, Placed, Ended, Failed> state;

  const Placed* placed() const { return std::get_if<Placed>(&state); }
  Placed* placed() { return std::get_if<Placed>(&state); }
  bool waits() const { return std::holds_alternative<Waiting>(state); }
  bool kept_at(const PeerId& peer) const { return std::ranges::find(keepers, peer) != keepers.end(); }
  bool over() const { return std::holds_alternative<Ended>(state) || std::holds_alternative<Failed>(state); }
  std::uint32_t exit_code() const;
  std::string sentence() const;
};

// All threads of a job, with indices: the order in which waiting threads are placed, and the due times of placed ones.
//
// Invariants: every thread is in exactly one state, and in the index of that state; a thread that is over stays so. Each operation costs
// O(log threads). Limit: the caller's (EffectLedger::Config::threads). A value without threads of its own.
class ThreadTable {
 public:
  static constexpr std::size_t kAvoided = 4;

  // Adds a waiting thread. REQUIRES: there is no thread with this id.
  HomeThread& add(ThreadId id);
  HomeThread& add_forked(ThreadId id);

  HomeThread* find(ThreadId id);
  const HomeThread* find(ThreadId id) const;
  HomeThread& at(ThreadId id) { return threads_.at(id); }
  const HomeThread& at(ThreadId id) const { return threads_.at(id); }
  const std::map<ThreadId, HomeThread>& all() const { return threads_; }

  // REQUIRES of these: the thread is not over.
  void wait(ThreadId id);
  // The thread waits, but not for a slot: its keepers are away.
  void park(ThreadId id, Time now);
  // The thread waits for a slot at a peer other than the accuser.
  void doubt(ThreadId id, const PeerId& accuser);
  HomeThread::Placed& place(ThreadId id, const PeerId& host, std::uint64_t claim, Time now);
  void end(ThreadId id, HomeThread::Ended how);
  void fail(ThreadId id, HomeThread::Failed how);
  // Discards what the keepers have of the thread: the thread starts from its beginning. REQUIRES: it waits.
  void begin_anew(ThreadId id);
  // A run of the thread has failed at this host: the thread waits to start from its beginning, elsewhere if possible. REQUIRES: it is
  // placed.
  void run_again(ThreadId id, const PeerId& host);
  // Remembers a host that lost the thread or reported a fault of it. The oldest of more than kAvoided is forgotten.
  void avoid(ThreadId id, const PeerId& host);

  // Threads that wait for a slot, in the order in which they became known.
  const std::set<std::pair<std::uint64_t, ThreadId>>& ready() const { return ready_; }
  // Threads that wait for a slot at a peer other than their accuser, by accuser, in the same order.
  const std::map<PeerId, std::set<std::pair<std::uint64_t, ThreadId>>>& doubted() const { return doubted_; }
  bool none_to_place() const { return ready_.empty() && doubted_.empty(); }
  // Threads that wait for one of their keepers to come back, by keeper.
  const std::map<PeerId, std::set<ThreadId>>& parked() const { return parked_; }

  // REQUIRES: the thread is not over, and not parked.
  void set_keepers(ThreadId id, std::vector<PeerId> keepers);
  // Threads that are not over and have this keeper on record; nullptr: there are none.
  const std::set<ThreadId>* kept_by(const PeerId& keeper) const;

  // REQUIRES: the thread is not over.
  void set_due(ThreadId id, Time at);
  // The same for all placed threads of this keeper.
  void set_kept_due(const PeerId& keeper, Time at);
  // Returns a thread whose due time has passed, and clears that time.
  std::optional<ThreadId> take_due(Time now);
  Time next_due() const { return due_.empty() ? kNever : due_.begin()->first; }

  std::size_t size() const { return threads_.size(); }
  std::size_t waiting() const { return size() - placed_ - ended_ - failed_; }
  std::size_t placed() const { return placed_; }
  std::size_t ended() const { return ended_; }
  std::size_t failed() const { return failed_; }
  std::size_t unfinished() const { return size() - ended_ - failed_; }
  // Threads among these that were forked.
  std::size_t unfinished_children() const { return unfinished_children_; }
  // The highest exit code of the tasks; not 0 if a thread has failed.
  std::uint32_t exit_code() const { return worst_exit_; }

 private:
  void leave_state(ThreadId id, HomeThread& thread);
  void retire(ThreadId id);
  void note_exit(const HomeThread& thread, std::uint32_t code);

  std::map<ThreadId, HomeThread> threads_;
  std::set<std::pair<std::uint64_t, ThreadId>> ready_;
  std::map<PeerId, std::set<std::pair<std::uint64_t, ThreadId>>> doubted_;
  std::map<PeerId, std::set<ThreadId>> parked_;
  std::map<PeerId, std::set<ThreadId>> kept_by_;
  std::set<std::pair<Time, ThreadId>> due_;
  std::size_t placed_ = 0, ended_ = 0, failed_ = 0, unfinished_children_ = 0;
  std::uint32_t worst_exit_ = 0;
};

// The exit code of a program that has come to this end: its own, or 5 if it reached a limit, as `godwit run` has it everywhere, or 1.
std::uint32_t exit_code_of(const wire::pb::Effect::End& end);

// The durable record of a thread. `slots`: of the claim it runs under.
wire::pb::ThreadRecord record_of(const HomeThread& thread, std::uint32_t slots);

}  // namespace gw::job
