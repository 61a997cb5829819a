#pragma once
// A peer's view of one grid.

#include <string>
#include <vector>

#include "base/rate_limit.h"
#include "base/rng.h"
#include "overlay/distance/ranging.h"
#include "overlay/distance/size_estimate.h"
#include "overlay/membership/descriptor_intake.h"
#include "overlay/membership/membership_filter.h"
#include "overlay/membership/rejoin.h"
#include "overlay/output.h"
#include "overlay/per_peer_rate_limit.h"
#include "overlay/routing/lookup.h"
#include "overlay/tables/peer_tables.h"

namespace gw::overlay {

// The peers of a grid, as far as this peer has to know them; docs/design/005-overlay.md. Hands each message to the machine it is for and
// starts what happens once a round. PeerTables holds the peers, DescriptorIntake decides what is believed about them.
//
// Invariants: every descriptor in a table was signed by its owner, and none is of this peer; a message of an authenticated stranger can at
// most fill its share of a bounded table. Memory and traffic do not depend on the size of the grid. A machine without I/O or threads:
// equal calls give equal outputs. Stays where it was made.
class Overlay {
 public:
  struct Config {
    GridId grid;
    std::optional<MembershipFilter::Config> members;  // none: an open grid
    std::string address;                              // where this peer is reached; empty: nowhere
    std::string name;                                 // of this machine, for people
    std::vector<std::string> known;                   // addresses to join through, always tried again
    Time youth = std::chrono::seconds(30);            // ten thousand peers started at once find their leafsets in seventeen rounds
    Time young_round = std::chrono::seconds(1);
    Time round = std::chrono::seconds(5);
    Sampler::Config sampler{};
    Ring::Config ring{};
    FailureDetector::Config detector{};
    LinkWatch::Config links{};
    Lookup::Config lookup{};
    Coordinates::Config coordinates{};
    Ranging::Config ranging{};
    Neighbours::Config neighbours{};
    SizeEstimate::Config size{};
    LastSeen::Config last_seen{};
    std::size_t partners = 512;                 // peers of jobs and searches that are in no table
    Time strangers = std::chrono::seconds(60);  // silence after which a peer that is in no table counts as gone
    Rejoin::Config rejoin{};
  };
  struct Self {
    PeerId id;
    PublicKey key;
    std::uint64_t boot;  // higher than all earlier ones
  };
  using Known = KnownPeer;

  Overlay(const Config& config, const Self& self, const Signer& signer, Rng rng);
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // Called once, before all other functions. `remembered`: addresses from earlier boots.
  void start(Time now, const std::vector<std::string>& remembered, Output& out);

  // A message that was decoded (wire/messages/overlay_messages.h), from an authenticated peer. Nothing in it is believed without a
  // signature.
  void on_message(Time now, const PeerId& from, const Message& message, Output& out);
  // `address`: the one that was dialled from here; empty: the other side has dialled.
  void on_connected(Time now, const PeerId& peer, const std::string& address, Output& out);
  void on_unreachable(Time now, const PeerId& peer, Failure failure, Output& out);
  // The connection broke without an orderly close.
  void on_reset(Time now, const PeerId& peer, Output& out);
  // A message of that peer arrived for another part of this one.
  void on_seen(Time now, const PeerId& from, Output& out);
  // This peer shares a job with that peer: its connection is watched closely from now on, and for a while after the last call.
  void watch_peer(Time now, const PeerId& with, Output& out);
  void on_tick(Time now, Output& out);
  Time next_deadline() const;

  void set_slots(std::uint32_t slots, std::uint32_t free_slots);
  // The contact of this peer, as Reachability has found it.
  void set_contact(const Contact& contact);
  // Ends memberships. REQUIRES: a private grid; a list that was checked.
  void revoke(Time now, Revocations list, Output& out);
  // A tracker, or a beacon in the local network, names a peer of the grid. Neither is a member, so the descriptor is verified.
  void on_rumoured(Time now, const wire::pb::Descriptor& message, Output& out);
  void on_rumoured(Time now, const std::string& address, Output& out) { rejoin_.try_address(now, address, out); }
  // A peer describes itself in a message about a job: it can be reached from now on. False: the descriptor is not genuine, or its owner may
  // not speak in this grid.
  bool introduce(Time now, const wire::pb::Descriptor& message, Output& out);
  // Announces that this peer leaves.
  void leave(Time now, Output& out);

  // Finds the peer that answers for a key, or one near it with `demand` slots free. Returns the number of the Located that answers.
  std::uint64_t locate(Time now, const Hash256& key, Output& out);
  std::uint64_t place(Time now, const Hash256& key, std::uint32_t demand, Output& out);

  // For the machines of jobs, for display and for checkers.
  bool alive(const PeerId& peer) const { return tables_.is_alive(peer); }
  // Whether the peer may speak in this grid, as far as is known here: every peer in an open one.
  bool admits(Time now, const PeerId& peer) const { return intake_.is_admitted(now, peer); }
  // nullptr: an open grid.
  const MembershipFilter* membership_filter() const { return membership_filter_ ? &*membership_filter_ : nullptr; }
  std::vector<Known> all() const { return tables_.known_peers(); }
  // nullptr: no table has a peer of that id.
  const Descriptor* find(const PeerId& peer) const { return tables_.find(peer); }
  // The estimated round trip to the peer; kNever: no table has it.
  Time distance(const PeerId& peer) const {
    const Descriptor* const known = find(peer);
    return known == nullptr ? kNever : tables_.distance_to(*known);
  }
  const Descriptor& self() const { return own_; }
  // The descriptor of this peer as others get it in messages about jobs, with its membership of a private grid.
  wire::pb::Descriptor introduction() const;
  // The live peers to which a search goes from here: near and random neighbours, and as long as these are fewer than they may be, other
  // peers that are known, the nearest first.
  std::vector<const Descriptor*> search_neighbours() const;
  const Sampler& sampler() const { return tables_.sampler; }
  const Ring& ring() const { return tables_.ring; }
  const FailureDetector& detector() const { return tables_.detector; }
  const Neighbours& neighbours() const { return tables_.neighbours; }
  // The estimated number of peers in the grid, this one included.
  double size() const;
  std::vector<std::string> to_remember() const { return tables_.addresses_to_remember(config_.rejoin.remembered); }

 private:
  // Rounds.
  void begin_round(Time now, Output& out);
  void forget_strangers(Time now, Output& out);
  void measure_distances(Time now, Output& out);
  Time round_length(Time now) const { return now - born_ < config_.youth ? config_.young_round : config_.round; }
  // Signs a newer descriptor of this peer.
  void renew_self();
  // Contradicts a report that this peer is dead, at most once a second.
  void refute_death(Time now);
  void rejoin_if_needed(Sampler::Need need, Time now, Output& out);

  // The end of every input. Applies what the machines have found out, then completes the messages that were added to `out` since it had
  // `before` of them: grid, failure reports, contact, proof of membership.
  void finish(Time now, std::size_t before, Output& out);
  void apply_component_results(Time now, Output& out);
  void record_death(const PeerId& peer, Output& out);
  void note_seen(Time now, const PeerId& from, Output& out);

  // Messages.
  void dispatch(Time now, const PeerId& from, const Message& message, Output& out);
  void on_gossip(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out);
  void on_gossip_reply(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out);
  void learn_samples(Time now, const Message::Gossip& gossip, Output& out);
  void on_ring(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out);
  void on_ring_reply(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out);
  void on_ping(Time now, const PeerId& from, const Message::Ping& ping, Output& out);
  void on_ping_for(Time now, const PeerId& from, const Message::PingFor& request, Output& out);
  void on_route(Time now, const PeerId& from, const Message::Route& request, Output& out);
  void on_found(Time now, const PeerId& from, const Message::Found& answer, Output& out);
  void refuse(const PeerId& peer, std::string sentence, Output& out);

  const Config config_;
  const Signer& signer_;
  std::optional<MembershipFilter> membership_filter_;  // of a private grid
  Rng rng_;
  Descriptor own_;
  PeerTables tables_;
  Lookup lookup_;
  Ranging ranging_;
  SizeEstimate size_;
  Rejoin rejoin_;
  DescriptorIntake intake_;
  Time born_{0};
  Time round_at_ = kNever;
  std::uint64_t measurements_ = 0;
  Time measured_at_{0};
  Time strangers_at_{0};
  Time aged_at_{0};
  Time refuted_at_ = -std::chrono::seconds(1);
  RateLimit reported_lies_{std::chrono::seconds(10), 1};
  // Descriptors in pings for others and in answers to pings. Each costs a signature, and no table knows which of them were asked for.
  PerPeerRateLimit descriptions_{{.period = std::chrono::seconds(1), .per_peer = 8, .peers = 4096}};
};

}  // namespace gw::overlay
