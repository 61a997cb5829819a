#pragma once
// A stream of nearly uniform random peers, although most of them cannot be dialled.

#include <optional>
#include <vector>

#include "base/rng.h"
#include "overlay/membership/descriptor_set.h"
#include "overlay/output.h"

namespace gw::overlay {

// ARRG (N. Drost et al., HPDC 2007): each round one exchange of random descriptors with a random peer of the cache; if that fails, one
// with a peer of the fallback cache, which has the peers with which an exchange once succeeded; if that fails too, the owner of this object
// dials a configured address. Request and answer are one-way gossips: no state spans the round trip.
//
// Invariants: the peer itself is in no table; ids are unique; a failed contact removes no entry. Only remove() (the failure detector's
// verdict) and age do, and age counts only while exchanges succeed, so that a peer that is cut off keeps its entries.
// Limits: Config. Descriptors given in were checked.
//
// Differences from the paper: entries age, and the age travels with them (without it half of a cache stays dead after half of the grid
// has died); a fallback entry does not age but goes when its peer is found dead; entries are signed; a stranger is answered once per
// half second, and if more than Config::answers ask, the next ones are only referred to two other peers, so that ten thousand peers can
// join through one; S = 16 besides the sender's own entry, not 30.
class Sampler {
 public:
  struct Config {
    std::size_t cache = 100;
    std::size_t fallback = 32;
    std::size_t sent = 16;
    std::uint16_t max_age = 40;               // in periods
    Time period = std::chrono::seconds(5);    // entries are one older after each in which an exchange succeeded
    Time patience = std::chrono::seconds(3);  // with one attempt, and at most half of a round
    Time late = std::chrono::seconds(15);     // how long an answer is still taken
    Time answer_gap = std::chrono::milliseconds(500);
    std::size_t answers = 512;     // in an answer_gap
    std::size_t referrals = 2048;  // besides
  };
  // The request to the caller when everything else has failed.
  enum class Need : std::uint8_t { nothing, bootstrap };

  Sampler(const Config& config, const PeerId& self, Rng& rng) : config_(config), self_(self), rng_(rng) {}

  // Begins an exchange with a peer of the caches. `own` is the newest descriptor of this peer.
  Need on_round(Time now, Time round, const Descriptor& own, Output& out);
  Need on_tick(Time now, const Descriptor& own, Output& out);
  Time next_deadline() const { return attempt_ ? attempt_->deadline : kNever; }
  Need on_unreachable(Time now, const PeerId& peer, const Descriptor& own, Output& out);
  // Begins an additional exchange with a peer that answered a dial.
  void ask(Time now, const PeerId& peer, Contact contact, const Descriptor& own, Output& out);

  // A request: answers it with what was known before. False: too many of that peer, or altogether; nothing is to be learned from it.
  bool answer(Time now, const PeerId& from, const Descriptor& own, Output& out);
  // Whether an answer of that peer is expected: only then its signature is worth checking.
  bool waits_for(Time now, const PeerId& peer) const;
  // Handles an answer and adds its sender to the fallback cache. False: the peer was not asked.
  bool on_answer(Time now, const Descriptor& from);

  // Whether offer() would store it: only then its signature is worth checking.
  bool wants(const Descriptor& descriptor) const;
  void offer(const Descriptor& descriptor);
  void remove(const PeerId& peer);

  const Descriptor* find(const PeerId& peer) const;
  const DescriptorSet& cache() const { return cache_; }
  const DescriptorSet& fallback() const { return fallback_; }
  // A random peer of the cache. Every one of them is as likely; the stream over many rounds is nearly uniform over the grid.
  const Descriptor* sample() { return any_of(cache_); }
  // Up to `count` of them, all different.
  std::vector<Descriptor> samples(std::size_t count);

 private:
  enum class Tier : std::uint8_t { cache, fallback };
  struct Attempt {
    PeerId peer;
    Tier tier;
    Time deadline;
  };
  struct Asked {
    PeerId peer;
    Time until;
  };

  const Descriptor* any_of(const DescriptorSet& descriptors);
  void attempt(Time now, Tier tier, const Descriptor& target, const Descriptor& own, Output& out);
  Need fall_back(Time now, const Descriptor& own, Output& out);
  void fill(const PeerId& receiver, std::size_t count, const Descriptor& own, Message::Gossip& gossip);
  std::vector<std::size_t> choose(std::size_t count);
  enum class Turn : std::uint8_t { answered, referred, refused };
  Turn admit(Time now, const PeerId& from);

  const Config config_;
  const PeerId self_;
  Rng& rng_;
  DescriptorSet cache_;
  DescriptorSet fallback_;
  std::optional<Attempt> attempt_;
  std::vector<Asked> asked_;  // whose answers are taken; a few
  Time patience_{0};
  Time aged_at_{0};
  std::vector<PeerId> answered_;  // sorted, since answered_from_
  Time answered_from_{0};
};

}  // namespace gw::overlay
