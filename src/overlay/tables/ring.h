#pragma once
// Fills leafsets and prefix tables: peers send each other the descriptors that the other can use.

#include <optional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "overlay/membership/contacts.h"
#include "overlay/output.h"
#include "overlay/per_peer_rate_limit.h"
#include "overlay/tables/leafset.h"
#include "overlay/tables/prefix_table.h"

namespace gw::overlay {

// T-Man's exchange, in the variant of the bootstrapping service. In a round this peer takes a partner out of the nearer half of its leafset
// and sends it, of all peers it knows, those closest to the *partner's* id on either side, and for each slot of the partner's prefix table
// up to two; the partner answers likewise; both learn everything. From any connected start all leafsets are exact after some
// log2(n) rounds, and again after deaths and healed partitions. When nothing has changed for ten rounds only every tenth is used. After
// a partner that did not answer comes one that was heard before, in the next round: for who cannot be dialled, and whose neighbours cannot
// either, those are the few that keep it on the ring.
//
// Invariants: those of Leafset and PrefixTable; a message carries at most Config::most descriptors besides the sender's; suspected peers
// are not recommended and old descriptors not taken up, so the dead do not circulate. A machine without I/O or threads; whatever it learns
// was checked before.
//
// Differences from the paper: the random sample is the sampler's whole cache, which costs no bytes since only what fits is sent; an answer
// leaves out what the request held; partners are not suspected ones; the second half of a message is random among slots, not complete,
// because messages have a limit; who belongs into a leafset and sends a ping is asked who it is (Overlay::on_ping), because a
// neighbour that has gone quiet would tell of it only ten rounds later.
class Ring {
 public:
  struct Config {
    std::size_t most = 48;
    unsigned quiet_after = 10;  // rounds without a change
    unsigned quiet_every = 10;
    PerPeerRateLimit::Config requests{.period = std::chrono::milliseconds(500), .per_peer = 1, .peers = 2048};
    std::uint16_t hearsay = 12;  // age of a descriptor from which on its peer must have been heard before it is taken up
  };

  Ring(const Config& config, const PeerId& self, const Contacts& contacts, Rng rng)
      : config_(config), self_(self), contacts_(contacts), rng_(rng), requests_(config.requests), leafset_(self), table_(self) {}

  // Whether learn() would change a table: otherwise the signature need not be checked.
  bool wants(const Descriptor& peer, float distance) const {
    return leafset_.wants(peer.id, peer.incarnation) || table_.wants(peer, distance);
  }
  // Hearsay: the peer would be a leaf, but its descriptor is so old that it may be dead.
  enum class Learned : std::uint8_t { new_leaf, hearsay, other };
  // Offers a peer to leafset and table. REQUIRES: signed by its owner, under no tombstone. `distance`: estimated round trip in seconds,
  // finite.
  Learned learn(const Descriptor& peer, float distance);
  void forget(const PeerId& peer);
  // A whole round is over: descriptors count their age in those.
  void grow_older();

  // The next exchange, if it is due. Returns the partner of the round before if it has not answered. `samples`: random peers.
  std::optional<PeerId> on_round(const Descriptor& self, std::span<const Descriptor> samples, Output& out);
  struct Known {
    std::span<const Descriptor> samples;   // random peers
    std::span<const Descriptor> partners;  // what the partner has sent; need not be genuine: at worst it gets less
  };
  // Whether a `ring` of that peer is to be answered: not if it comes too often. Asked before anything in it is read.
  bool admits(Time now, const PeerId& partner) { return requests_.admit(now, partner); }
  // Answers a `ring`. Called before what it holds is learned.
  void on_request(const Descriptor& partner, const Descriptor& self, Known known, Output& out);
  // False: the peer was not asked.
  bool on_reply(const PeerId& partner);
  // The next leaf that is known only from an old descriptor; nullptr: there is none. Leaves take turns, so that none is overlooked for
  // long.
  const Descriptor* stale_leaf();

  const Leafset& leafset() const { return leafset_; }
  const PrefixTable& table() const { return table_; }
  bool is_quiet() const { return unchanged_ >= config_.quiet_after; }

 private:
  const Descriptor* choose_partner(std::span<const Descriptor> samples, bool is_cautious);
  std::vector<const Descriptor*> candidates_for(const PeerId& partner, Known known) const;
  void recommend(const PeerId& partner, Known known, Message::Gossip& gossip);

  const Config config_;
  const PeerId self_;
  const Contacts& contacts_;
  Rng rng_;
  PerPeerRateLimit requests_;
  Leafset leafset_;
  PrefixTable table_;
  std::vector<PeerId> asked_;  // the last few, whose replies are taken
  unsigned unchanged_ = 0;     // rounds
  std::size_t next_leaf_ = 0;
  std::optional<PeerId> waiting_for_;
};

}  // namespace gw::overlay
