#pragma once
// Failure detection: which peers have died.
//
// The problem. A peer that does not answer may be dead, slow, paused, behind a firewall, or cut off from this peer only; or this peer
// itself may be slow or cut off. Home must know within seconds that a host is dead, and a wrong verdict costs a run. A peer knows only a
// part of its grid, some peers cannot be dialled, and some lie.
//
// Ways that were rejected. Full membership as in serf: traffic and memory grow with the grid. Plain SWIM, in which a suspicion or death
// that others announce counts: a liar could remove any peer. A suspicion whose length grows with the size of the grid, as in SWIM: here a
// refutation is asked for directly instead of spreading by gossip, so the length is constant. A failed dial as a verdict: a peer that
// cannot be dialled from here may be alive.
//
// Invariants.
// 1. No peer is suspected or declared dead without a ping of this peer's own that was not answered, except one that announced that it left.
// 2. A rumour (a report of another peer) causes at most one ping, at a limited rate. It shortens a suspicion that rests on an own ping,
// from Config::longest_suspicion to Config::shortest_suspicion, and has no other effect.
// 3. A peer that hears from no other peer suspects itself: it declares none dead for silence and lengthens its patience (health).
// 4. Time in which this peer was paused does not count against others.
// 5. An indirect answer counts by the signature of the peer asked about, not by the word of the helper.
// 6. A tombstone ends with the first message of the peer, its next boot, a newer descriptor, or its expiry: no live peer stays dead.

#include <map>
#include <utility>
#include <vector>

#include "base/rate_limit.h"
#include "base/rng.h"
#include "overlay/failures/failure_reports.h"
#include "overlay/failures/ping_relay.h"
#include "overlay/failures/tombstones.h"
#include "overlay/membership/contacts.h"
#include "overlay/output.h"

namespace gw::overlay {

// SWIM's failure detector with Lifeguard's refinements, for peers that know a part of a grid. Every known peer is pinged in turn. One that
// does not answer is pinged through helpers, then suspected, and declared dead after a time without a sign of life. A sign of life is any
// message of the peer, or a fresh descriptor of it, from any peer, that is newer than the one in doubt.
//
// Further differences from SWIM and Lifeguard. Several pings a round if many peers are known, so that a turn takes at most forty rounds;
// but only the first ping of a round goes to a peer whose descriptor is fresh too. Instead of nacks, helpers get a ping of their own: if
// none of them answers either, the fault is here. A reset connection, or a refused dial to a peer that can be dialled, makes a peer dead at
// once if the next dial fails too. Peers that only dial, or may be such, are judged by the age of their descriptor, because they can be
// pinged only over a connection they opened; unless another peer has missed them and their machine refuses connections.
//
// A machine without I/O or threads. Limits: Config, and those of FailureReports, Tombstones and PingRelay.
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

  FailureDetector(const Config& config, const PeerId& self, const Contacts& contacts, Rng rng);

  // Starts the next pings.
  void on_round(Time now, Output& out);
  void on_tick(Time now, Output& out);
  Time next_deadline() const;

  // Called for every message of a peer, before it is handled.
  void on_seen(Time now, const PeerId& peer, Output& out);
  // Called for every genuine descriptor, from any peer. Before a descriptor is stored, ask admits(); before its signature is checked,
  // wants().
  void on_descriptor(Time now, const Descriptor& peer, Output& out);
  bool wants(const Descriptor& peer) const;
  bool admits(const Descriptor& peer) const { return !tombstones_.covers(peer, whole_rounds_); }
  // Pings a peer for a reason: an exchange was not answered, or an important peer has never sent a message.
  void on_silence(Time now, const PeerId& peer, Output& out);
  // An unknown peer appears only in old descriptors. A live peer publishes newer ones by itself, so nothing is asked.
  void on_hearsay(Time now, const Descriptor& peer, Output& out);
  void on_unreachable(Time now, const PeerId& peer, Failure failure, Output& out);
  void on_reset(Time now, const PeerId& peer, Output& out);
  void on_leave(Time now, const PeerId& peer, const Incarnation& incarnation);

  enum class Accused : std::uint8_t { no, yes };
  // Yes: another peer believes this one dead, so a newer descriptor is needed.
  Accused on_rumours(Time now, const PeerId& from, const Message& message, const Incarnation& own, Output& out);
  void on_ping_for(Time now, const PeerId& asker, const Message::PingFor& request, const Descriptor& about, Output& out);
  // Called for every message that is sent.
  void add_rumours(Message& message) { failure_reports_.add_to(message); }

  State state(const PeerId& peer) const;
  const Tombstones& tombstones() const { return tombstones_; }
  // The peers that were declared dead since the last call. The caller drops them from every table.
  std::vector<PeerId> take_dead() { return std::exchange(dead_, {}); }

 private:
  // A peer that has not answered a ping yet.
  struct Doubt {
    enum class Stage : std::uint8_t { pinged, pinged_by_others, suspected } stage = Stage::pinged;
    Incarnation incarnation;
    std::uint64_t round = 0;       // whole round in which it began
    Time asked{0};                 // the last ping
    Time suspected{0};             // since when
    Time until{0};                 // the next step
    std::vector<PeerId> accusers;  // each once, at most Config::witnesses
    bool refused = false;          // a dial was refused
    bool broken = false;           // a connection was reset, or refused by a peer that can be dialled
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
  // Whether `about` may be pinged because of a rumour: rate-limited per peer and in all.
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
  std::vector<PeerId> turn_;         // all peers known when this turn began, in random order
  std::size_t next_ = 0;             // index of the next one to ping
  std::map<PeerId, Time> rumoured_;  // peers that were pinged lately because of a rumour or hearsay, and when
  std::vector<PeerId> dead_;
  std::uint64_t rounds_ = 0;
  std::uint64_t whole_rounds_ = 0;  // the unit of a descriptor's age: the first rounds after a start are shorter
  Time whole_round_at_{0};
  unsigned health_ = 0;  // 0 is healthy; a higher value lengthens every patience
  Time last_seen_{-1};   // the last message of any peer
  Time spread_at_{0};
};

}  // namespace gw::overlay
