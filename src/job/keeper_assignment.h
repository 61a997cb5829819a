#pragma once
// Which peer keeps a thread's images and determinants, and how another one takes over.
//
// The problem. A thread's state must be at a peer other than its host, and what that peer has acknowledged decides what the thread may say.
// A keeper may die, fall silent, or be the host itself (when there was nobody else). Replacing it takes several messages, any of which may
// be lost, and home, host and both keepers may be restarted in the middle.
//
// Ways that were rejected. Telling the new keeper about the thread from here: a second path for the same data, and a race with the host.
// Writing down the new keeper first and filling it then: a host that dies in between has its images at the old one, and home looks at the
// new one. Two keepers on record: whoever resumes must ask both, and know which of two answers is newer.
//
// Invariants.
// 1. The keeper on record has everything that was ever called stable. It is replaced on record only after the host has said that the new
//    one has it too; between that word and home's answer the host calls nothing stable.
// 2. A generation names one (thread, keeper) pair and is used once: generations of different boots of home are different. With the epoch it
//    is what a keeper goes by, so an old host cannot write after a new one.
// 3. The host writes at the new keeper only with a grant of that generation.
// 4. A thread that has no host keeps its keeper: nobody could fill another one.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "job/actions.h"
#include "job/authority.h"
#include "job/live_peers.h"
#include "job/thread_table.h"

namespace gw::job {

// Chooses keepers and replaces those that are gone, silent or the host itself. What it decides is in the thread table.
//
// Limits: the roster's. Costs: O(1) per call, but for a look at all peers once per Config::refresh. A machine without I/O or threads.
class KeeperAssignment {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time refresh = std::chrono::milliseconds(800);  // how old the list of candidates may be
    Time look = std::chrono::seconds(10);           // at a keeper that is good
    Time patience = std::chrono::seconds(30);       // with a target that is not filled
  };
  struct Environment {  // outlives it
    JobId job;
    std::uint64_t boot;
    const LivePeers& live_peers;
    LeaderRoster& roster;
    ThreadTable& threads;
    Rng& rng;
  };

  KeeperAssignment(const Config& config, const Environment& environment)
      : config_(config), environment_(environment), next_generation_(environment.boot << 32) {}

  // For a thread that goes to that host: a new generation, and a keeper if it has none. Never the host itself, unless there is nobody else:
  // better on its disk than nowhere.
  void assign(Time now, ThreadId id, const PeerId& host);
  // Whether a thread that waits can be restored where it goes.
  bool is_there(const HomeThread& thread) const;
  wire::pb::SignedGrant grant(ThreadId id, const HomeThread& thread, const PeerId& keeper) const;

  // The host runs the thread. Looks whether its keeper is good, asks the host to fill another one if not, and says when to look again.
  void tend(Time now, ThreadId id, Actions& out);
  // The host says that its keeper does not answer it, although it may seem alive from here.
  void on_stalled(Time now, ThreadId id, Actions& out);
  // True: the keeper on record has changed.
  bool on_filled(Time now, ThreadId id, std::uint64_t generation);
  // Who is on record, and who is to be filled.
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
