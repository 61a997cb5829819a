#pragma once
// Who has died.

#include <map>
#include <utility>
#include <vector>

#include "base/rate_limit.h"
#include "base/rng.h"
#include "overlay/contacts.h"
#include "overlay/failure_reports.h"
#include "overlay/output.h"
#include "overlay/ping_relay.h"
#include "overlay/tombstones.h"

namespace gw::overlay {

// SWIM's failure detector with Lifeguard's refinements, for peers that know a part of a grid. Everybody known is pinged in turn; who does
// not answer is asked through others, then suspected, and after a while without a sign of life declared dead. A sign of life is any
// message of the peer, or a fresh descriptor of it that is newer than the one that was doubted, from anybody.
//
// Invariants: nobody is dead, nor suspected, without a ping of this peer's own that was not answered. What others say costs one ping, at a
// limited rate. Who hears from none of several peers suspects itself: it waits. A tombstone falls with the first message of the peer, its
// next life, or a newer descriptor, and in the end by itself; so nobody who lives is dead for ever. A machine without I/O or threads.
// Limits: Config, and those of FailureReports, Tombstones and PingRelay.
//
// Differences from SWIM and Lifeguard: rumours are hints and never verdicts, so that liars cannot kill; they shorten a suspicion that rests
// on this peer's own ping. An indirect answer counts by the signature of the peer that was asked for, not by the word of the helper. The
// length of a suspicion does not grow with the grid, because a refutation is asked for directly instead of spreading by gossip.
// Several pings a round if many are known, so that a turn takes at most forty rounds; but only the first of them also to those whose
// descriptor is fresh. Instead of nacks, helpers get a ping of their own: if none of them is heard either, the fault is here. A refused
// connection is as good as three rumours, for those that can be dialled. Peers that only dial, or may be such, are judged by the age of
// their descriptor: nobody can ping them but over a connection they opened; unless somebody else has missed them and their machine refuses.
class FailureDetector {
 public:
  struct Config {
    Time round = std::chrono::seconds(5);
    Time patience = std::chrono::milliseconds(1500);  // with a ping, and again with the pings of helpers
    std::size_t helpers = 3;
    Time longest_suspicion = std::chrono::seconds(30);  // without rumours
    Time shortest_suspicion = std::chrono::seconds(10);
    std::size_t witnesses = 3;  // rumours that make it the shortest
    std::size_t doubts = 256;   // pings and suspicions at a time
    std::size_t rounds_per_turn = 40;
    std::size_t pings_per_round = 8;
    std::uint16_t old = 12;       // age from which on a ping asks for a newer descriptor
    unsigned hidden_rounds = 60;  // age of the descriptor of a peer that only dials
    unsigned worst_health = 7;
    Time late = std::chrono::seconds(1);              // a tick that comes so late: this peer was paused
    Time ask_every = std::chrono::milliseconds(500);  // pings that others caused
    int ask_burst = 16;
    Time spread_every = std::chrono::milliseconds(500);  // pings that only carry rumours
    std::size_t spread = 2;
    FailureReports::Config failure_reports;
    Tombstones::Config tombstones;
    PingRelay::Config relay;
  };
  enum class State : std::uint8_t { alive, suspected, dead };
  struct Verdict {
    PeerId peer;
    enum class Kind : std::uint8_t { dead, risen } kind;
  };

  FailureDetector(const Config& config, const PeerId& self, const Contacts& contacts, Rng rng);

  // Starts the next pings.
  void on_round(Time now, Output& out);
  void on_tick(Time now, Output& out);
  Time next_deadline() const;

  // Any message of that peer, before anything is done with it.
  void on_seen(Time now, const PeerId& peer, Output& out);
  // Any genuine descriptor, from anybody. Asked before it is stored: admits(); before its signature is checked: wants().
  void on_descriptor(Time now, const Descriptor& peer, Output& out);
  bool wants(const Descriptor& peer) const;
  bool admits(const Descriptor& peer) const { return !tombstones_.covers(peer, whole_rounds_); }
  // There is reason to ask: an exchange was not answered, or somebody is important who was never heard.
  void on_silence(Time now, const PeerId& peer, Output& out);
  // Somebody unknown, whom only old words speak of: if it lives, it will say so itself.
  void on_hearsay(Time now, const Descriptor& peer, Output& out);
  void on_unreachable(Time now, const PeerId& peer, Failure failure, Output& out);
  void on_reset(Time now, const PeerId& peer, Output& out);
  void on_leave(Time now, const PeerId& peer, const Incarnation& incarnation);

  enum class Accused : std::uint8_t { no, yes };
  // Yes: somebody takes this peer for dead, which calls for a newer descriptor.
  Accused on_rumours(Time now, const PeerId& from, const Message& message, const Incarnation& own, Output& out);
  void on_ping_for(Time now, const PeerId& asker, const Message::PingFor& request, const Descriptor& about, Output& out);
  // For every message that leaves.
  void add_rumours(Message& message) { failure_reports_.add_to(message); }

  State state(const PeerId& peer) const;
  const Tombstones& tombstones() const { return tombstones_; }
  // What has changed since the last call. The dead are to be dropped from every table.
  std::vector<Verdict> take_verdicts() { return std::exchange(verdicts_, {}); }

 private:
  // Somebody who has not answered yet.
  struct Doubt {
    enum class Stage : std::uint8_t { pinged, pinged_by_others, suspected } stage = Stage::pinged;
    Incarnation incarnation;
    std::uint64_t round = 0;       // whole round in which it began
    Time asked{0};                 // the last ping
    Time suspected{0};             // since when
    Time until{0};                 // the next step
    std::vector<PeerId> accusers;  // each once, at most Config::witnesses
    bool refused = false;          // a dial was
    bool broken = false;           // a connection was reset, or refused by somebody who can be dialled
  };
  using Doubts = std::map<PeerId, Doubt>;

  void begin_turn();
  Doubt* ask(Time now, const PeerId& peer, Output& out);
  void ping(Time now, const Descriptor& peer, Doubt& doubt, Output& out);
  void step(Time now, const PeerId& peer, Output& out);
  void ask_others(Time now, const Descriptor& peer, Doubt& doubt, Output& out);
  void ask_for(const Descriptor& helper, const Descriptor& about, Output& out);
  void suspect(Time now, const Descriptor& peer, Doubt& doubt, Output& out);
  void on_suspected(Time now, const Descriptor& peer, Doubt& doubt, Output& out);
  void record_death(Time now, const Descriptor& peer, std::uint64_t round);
  void clear(const PeerId& peer);
  void on_rumour(Time now, const PeerId& from, const PeerId& about, const Incarnation& incarnation, Output& out);
  // Whether this peer may be pinged because of what others say. Once in a while, for each and for all.
  bool may_follow(Time now, const PeerId& about);
  std::vector<const Descriptor*> some_others(const PeerId& but, std::size_t count);
  void make_up_for_pause(Time now);
  void spread_rumours(Time now, Output& out);
  bool knows_others() const { return turn_.size() > 1; }
  Time patience() const { return config_.patience * (1 + health_); }
  Time suspicion_of(const Doubt& doubt) const;
  unsigned tellings() const;

  const Config config_;
  const PeerId self_;
  const Contacts& contacts_;
  Rng rng_;
  RateLimit rate_limit_;
  FailureReports failure_reports_;
  Tombstones tombstones_;
  PingRelay relay_;
  Doubts doubts_;
  std::vector<PeerId> turn_;         // everybody who was known when this turn began, in random order
  std::size_t next_ = 0;             // who of them is pinged next
  std::map<PeerId, Time> rumoured_;  // about whom a rumour or hearsay was followed lately, and when
  std::vector<Verdict> verdicts_;
  std::uint64_t rounds_ = 0;
  std::uint64_t whole_rounds_ = 0;  // in which the age of a descriptor is counted: the first rounds of a life are shorter
  Time whole_round_at_{0};
  unsigned health_ = 0;  // 0 is well; stretches every patience
  Time last_seen_{-1};   // from anybody
  Time spread_at_{0};
};

}  // namespace gw::overlay
