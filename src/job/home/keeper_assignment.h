#pragma once
// Which two peers keep a thread's images and determinants, and how another one takes over.
//
// The problem. A thread's state must be at peers other than its host, and a thread may send only effects that the keepers'
// acknowledgements cover. A keeper may die, fall silent, or be the host itself (when there was no other peer). Replacing it takes several
// messages, any of which may be lost, and home, host and keepers may be restarted in the middle. docs/design/021-owner-first.md.
//
// Ways that were rejected. Telling the new keeper about the thread from here: a second path for the same data, and a race with the host.
// Recording the new keeper first and filling it then: if the host dies in between, its images are at the old keepers, and home looks at
// the new one. Waiting for the answers of both keepers when a thread goes on elsewhere, and taking the newer one: each has all that is
// stable, so the first answer is enough.
//
// Invariants.
// 1. Each keeper on record has everything that was ever called stable. One is added only after the host has reported that it has that
//    too; between that report and home's answer the host calls nothing stable. One is taken off as soon as it is dead or silent, if
//    another one stays.
// 2. A thread that goes on in a new epoch has on record only the keeper that gave its state, unless the other one has said that it has
//    the same: it may have more, which was never stable, and is filled like a new one.
// 3. A generation is used once: generations of different boots of home are different. A keeper accepts writes by epoch and generation,
//    so an old host cannot write after a new one. The host writes at a new keeper only with a grant of that generation.
// 4. A thread that has no host keeps its keepers: there is no host that could fill another one.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "job/actions.h"
#include "job/authority/authority.h"
#include "job/home/thread_table.h"
#include "job/live_peers.h"

namespace gw::job {

// Chooses keepers and replaces those that are dead, silent or the host itself. Its decisions are stored in the thread table, and the caller
// records them.
//
// Among a few candidates drawn at random it takes one of another part of the internet than the host and the other keeper, rather one that
// has been there for long (Winner Picking) and one that is near.
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
    std::size_t keepers = 2;                        // of a thread, at most
    Time distrust = std::chrono::minutes(2);        // a peer that could not be filled is the second keeper of no thread for so long
    Time uptime = std::chrono::minutes(5);          // a peer that has been there for so much longer is chosen e times as often
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

  // Gives a thread that goes to `host` a new generation, and keepers if it has none. The host itself becomes the keeper only if there is
  // no other peer: images on its own disk survive at least a restart. The keeper that is to be asked first comes first.
  void assign(Time now, ThreadId id, const PeerId& host);
  // Whether a waiting thread can start: a keeper is alive, or they have nothing of it.
  bool is_there(const HomeThread& thread) const;
  // Threads whose keepers are there again wait for slots from now on.
  void unpark_returned();
  wire::pb::SignedGrant grant(ThreadId id, const HomeThread& thread, std::span<const PeerId> keepers) const;

  // The functions that return a bool return whether the keepers on record have changed.

  // The host has the state of the thread from this keeper.
  bool on_restored(ThreadId id, const PeerId& keeper);
  // Checks the keepers of a running thread, takes dead ones off the record, asks the host to fill another one if one is lacking, and sets
  // the thread's next due time.
  bool tend(Time now, ThreadId id, Actions& out);
  // The host reports that this keeper does not answer or keeps no more, although it may seem alive from here.
  bool on_stalled(Time now, ThreadId id, const PeerId& keeper, Actions& out);
  // The thread is to be suspended, and its last image should be at home, where it can be exported. True: the host is filling this peer, and
  // has to run the thread until that is done. False: `home` is a keeper already, or cannot be filled in time.
  bool bring_home(Time now, ThreadId id, const PeerId& home, Actions& out);
  bool on_filled(Time now, ThreadId id, std::uint64_t generation);
  // Tells the host which keepers are on record and which one is to be filled.
  void send(ThreadId id, HomeThread& thread, Actions& out);

 private:
  struct Wanted {
    PeerId host;
    std::vector<PeerId> beside = {};  // the other keepers
    std::vector<PeerId> except = {};
    std::optional<PeerId> rather = std::nullopt;
  };
  void refresh(Time now);
  std::optional<PeerId> choose(Time now, const Wanted& wanted);
  std::optional<PeerId> choose_target(Time now, const HomeThread& thread, const std::optional<PeerId>& except);
  std::vector<PeerId> good_keepers(const HomeThread& thread) const;
  bool is_distrusted(Time now, const PeerId& peer) const;
  void set_keepers(ThreadId id, std::vector<PeerId> keepers);
  void begin_change(Time now, HomeThread& thread, const PeerId& target);
  void give_up_target(Time now, HomeThread& thread);

  const Config config_;
  const Environment environment_;
  std::uint64_t next_generation_;
  struct Candidate {
    PeerId peer;
    std::string network;
    Time distance;
    Time seen_since;  // by this home
  };
  std::vector<Candidate> candidates_;
  std::map<PeerId, Time> distrusted_until_;
  Time refreshed_ = -kNever;
};

}  // namespace gw::job
