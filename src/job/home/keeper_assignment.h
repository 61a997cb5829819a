#pragma once
// Which peer keeps a thread's images and determinants, and how another one takes over.
//
// The problem. A thread's state must be at a peer other than its host, and a thread may send only effects that the keeper's
// acknowledgements cover. A keeper may die, fall silent, or be the host itself (when there was no other peer). Replacing it takes several
// messages, any of which may be lost, and home, host and both keepers may be restarted in the middle.
//
// Ways that were rejected. Telling the new keeper about the thread from here: a second path for the same data, and a race with the host.
// Recording the new keeper first and filling it then: if the host dies in between, its images are at the old keeper, and home looks at the
// new one. Two keepers on record: a host that resumes the thread must ask both, and know which of two answers is newer.
//
// Invariants.
// 1. The keeper on record has everything that was ever called stable. It is replaced on record only after the host has reported that the
//    new one has it too; between that report and home's answer the host calls nothing stable.
// 2. A generation names one (thread, keeper) pair and is used once: generations of different boots of home are different. A keeper accepts
//    writes by epoch and generation, so an old host cannot write after a new one.
// 3. The host writes at the new keeper only with a grant of that generation.
// 4. A thread that has no host keeps its keeper: there is no host that could fill another one.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "job/actions.h"
#include "job/authority/authority.h"
#include "job/home/thread_table.h"
#include "job/live_peers.h"

namespace gw::job {

// Chooses keepers and replaces those that are dead, silent or the host itself. Its decisions are stored in the thread table.
//
// Limits: the roster's. Costs: O(1) per call, but for a look at all peers once per Config::refresh. A machine without I/O or threads.
class KeeperAssignment {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time refresh = std::chrono::milliseconds(800);  // how old the list of candidates may be
    Time look = std::chrono::seconds(10);           // between two checks of a good keeper
    Time patience = std::chrono::seconds(30);       // how long a new keeper may take to be filled
    Time replace_every = std::chrono::seconds(3);   // at most, of one thread: all peers may refuse to keep more of it
  };
  struct Environment {  // outlives this object
    JobId job;
    std::uint64_t boot;
    const LivePeers& live_peers;
    LeaderRoster& roster;
    ThreadTable& threads;
    Rng& rng;
  };

  KeeperAssignment(const Config& config, const Environment& environment)
      : config_(config), environment_(environment), next_generation_(environment.boot << 32) {}

  // Gives a thread that goes to `host` a new generation, and a keeper if it has none. The host itself becomes the keeper only if there is
  // no other peer: images on its own disk survive at least a restart.
  void assign(Time now, ThreadId id, const PeerId& host);
  // Whether a waiting thread can start: its keeper is alive, or has nothing of it.
  bool is_there(const HomeThread& thread) const;
  // Threads whose keepers are there again wait for slots from now on.
  void unpark_returned();
  wire::pb::SignedGrant grant(ThreadId id, const HomeThread& thread, const PeerId& keeper) const;

  // Checks the keeper of a running thread, asks the host to fill another one if it is not good, and sets the thread's next due time.
  void tend(Time now, ThreadId id, Actions& out);
  // The host reports that its keeper does not answer, although it may seem alive from here.
  void on_stalled(Time now, ThreadId id, Actions& out);
  // The thread is to be suspended, and its last image should be at home, where it can be exported. True: the host is filling this peer, and
  // has to run the thread until that is done. False: `home` is the keeper already, or cannot be filled in time.
  bool bring_home(Time now, ThreadId id, const PeerId& home, Actions& out);
  // True: the keeper on record has changed.
  bool on_filled(Time now, ThreadId id, std::uint64_t generation);
  // Tells the host which keeper is on record and which one is to be filled.
  void send(ThreadId id, const HomeThread& thread, Actions& out) const;

 private:
  std::optional<PeerId> choose(Time now, const PeerId& host, const std::optional<PeerId>& except);
  void begin_change(Time now, HomeThread& thread, const PeerId& target);

  const Config config_;
  const Environment environment_;
  std::uint64_t next_generation_;
  std::vector<PeerId> candidates_;
  Time refreshed_ = -kNever;
};

}  // namespace gw::job
