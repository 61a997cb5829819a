#pragma once
// A peer's view of one grid.

#include <string>
#include <vector>

#include "base/rate_limit.h"
#include "base/rng.h"
#include "overlay/contacts.h"
#include "overlay/coordinates.h"
#include "overlay/failure_detector.h"
#include "overlay/last_seen.h"
#include "overlay/link_watch.h"
#include "overlay/lookup.h"
#include "overlay/membership_filter.h"
#include "overlay/neighbours.h"
#include "overlay/output.h"
#include "overlay/ranging.h"
#include "overlay/rejoin.h"
#include "overlay/ring.h"
#include "overlay/sampler.h"
#include "overlay/size_estimate.h"

namespace gw::overlay {

// Who else is in the grid, as far as this peer has to know; docs/design/005-overlay.md. Owns the machines, which do not know each other,
// gives each what concerns it, and is the only place where a message is taken apart, a signature checked, a table asked to let go.
//
// Invariants: whatever is in a table was signed by its owner and is not this peer; nothing an authenticated stranger sends can do more
// than fill its share of a bounded table. Memory and traffic do not depend on the size of the grid. A machine without I/O or threads:
// equal calls give equal outputs. Stays where it was made.
class Overlay {
 public:
  struct Config {
    GridId grid;
    std::optional<MembershipFilter::Config> members;  // none: an open grid
    std::string address;                              // where this peer is reached; empty: nowhere
    std::vector<std::string> known;                   // addresses to join through, always tried again
    Time youth = std::chrono::seconds(30);            // ten thousand that start at once find their places in seventeen rounds
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
    Time strangers = std::chrono::seconds(60);  // without a word, until somebody who is in no table counts as gone
    Rejoin::Config rejoin{};
  };
  struct Self {
    PeerId id;
    PublicKey key;
    std::uint64_t boot;  // higher than in all lives before
  };

  Overlay(const Config& config, const Self& self, const Signer& signer, Rng rng);
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // First of all, once. `remembered`: addresses from lives before.
  void start(Time now, const std::vector<std::string>& remembered, Output& out);

  // A message that was decoded (wire/overlay_messages.h), from an authenticated peer. Nothing in it is believed without a signature.
  void on_message(Time now, const PeerId& from, const Message& message, Output& out);
  // `address`: the one that was dialled from here; empty: the other side has dialled.
  void on_connected(Time now, const PeerId& peer, const std::string& address, Output& out);
  void on_unreachable(Time now, const PeerId& peer, Failure failure, Output& out);
  // The connection broke without a goodbye.
  void on_reset(Time now, const PeerId& peer, Output& out);
  // Any message of that peer, of another part of this one.
  void on_seen(Time now, const PeerId& from, Output& out);
  // A job is done together with that peer: from now on, and for a while after the last call, it is watched closely.
  void watch_peer(Time now, const PeerId& with, Output& out);
  void on_tick(Time now, Output& out);
  Time next_deadline() const;

  void set_slots(std::uint32_t slots, std::uint32_t free_slots);
  // How this peer is reached, as it has found out.
  void set_contact(const Contact& contact);
  // Members are members no more. REQUIRES: a private grid; a list that was checked.
  void revoke(Time now, Revocations list, Output& out);
  // Somebody said to be there, by who is not of the grid.
  void on_rumoured(Time now, const wire::pb::Descriptor& message, Output& out);
  void on_rumoured(Time now, const std::string& address, Output& out) { rejoin_.try_address(now, address, out); }
  // Leaves on purpose.
  void leave(Time now, Output& out);

  // Who answers for a key, or who has `demand` slots free near it. Returns the number of the Located that answers.
  std::uint64_t locate(Time now, const Hash256& key, Output& out);
  std::uint64_t place(Time now, const Hash256& key, std::uint32_t demand, Output& out);

  // For the machines of jobs, for people and checkers.
  bool alive(const PeerId& peer) const;
  // May speak in this grid, as far as is known here: everybody in an open one.
  bool admits(Time now, const PeerId& peer) const { return !membership_filter_ || membership_filter_->admits(now, peer); }
  // nullptr: an open grid.
  const MembershipFilter* membership_filter() const { return membership_filter_ ? &*membership_filter_ : nullptr; }
  struct Known {
    Descriptor descriptor;
    using State = FailureDetector::State;
    State state;
    Time last_seen = kNever;  // kNever: not heard from, only heard of
    Time distance{0};         // round trip, measured or estimated
  };
  std::vector<Known> all() const;  // the others, by id
  // nullptr: nobody of that id is in a table.
  const Descriptor* find(const PeerId& peer) const { return tables_.find(peer); }
  const Descriptor& self() const { return own_; }
  const Sampler& sampler() const { return sampler_; }
  const Ring& ring() const { return ring_; }
  const FailureDetector& detector() const { return detector_; }
  const Neighbours& neighbours() const { return neighbours_; }
  // The estimated number of peers in the grid, this one included.
  double size() const;
  std::vector<std::string> to_remember() const;

 private:
  // What machines see of each other's tables.
  class Tables : public Contacts {
   public:
    explicit Tables(const Overlay& overlay) : overlay_(overlay) {}
    const Descriptor* find(const PeerId& peer) const override;
    std::vector<PeerId> all() const override;
    bool is_suspected(const PeerId& peer) const override;
    bool was_seen(const PeerId& peer) const override { return overlay_.last_seen_.last(peer) != kNever; }

   private:
    const Overlay& overlay_;
  };

  void begin_round(Time now, Output& out);
  void forget_strangers(Time now, Output& out);
  void renew_self();
  Time round_length(Time now) const { return now - born_ < config_.youth ? config_.young_round : config_.round; }
  void serve(Sampler::Need need, Time now, Output& out);
  // The end of every input: what the machines have found out, then grid, rumours and addresses of everything that was added to `out` since
  // it had `before` messages.
  void finish(Time now, std::size_t before, Output& out);
  void apply_component_results(Time now, Output& out);
  void measure(Time now, Output& out);
  void take_ranges();
  // The round trip to it as the coordinates have it.
  Time distance_to(const Descriptor& descriptor) const;
  float seconds_to(const Descriptor& descriptor) const;
  void hear(Time now, const PeerId& from, Output& out);
  void record_death(const PeerId& peer, Output& out);
  // Makes a newer descriptor, if the last one is not from this very second: somebody takes this peer for dead.
  void refute(Time now);

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
  // Signed by its owner, and by a member if the grid is private.
  bool genuine(Time now, const Descriptor& descriptor) const;

  bool wanted(const Descriptor& descriptor) const;
  // Reads it, and stores it where it is wanted and genuine.
  void learn(Time now, const wire::pb::Descriptor& message, Output& out);
  void learn(Time now, const Descriptor& descriptor, Output& out);
  // The sender's own. Nothing: it is not its own, or forged, which is reported.
  std::optional<Descriptor> learn_sender(Time now, const PeerId& from, const wire::pb::Descriptor& message, Output& out);
  void store(Time now, const Descriptor& descriptor, Output& out);

  const Config config_;
  const Signer& signer_;
  std::optional<MembershipFilter> membership_filter_;  // of a private grid
  Rng rng_;
  Descriptor own_;
  Time born_{0};
  Time round_at_ = kNever;
  const Tables tables_{*this};
  Sampler sampler_;
  Ring ring_;
  FailureDetector detector_;
  LinkWatch links_;
  Lookup lookup_;
  Coordinates coordinates_;
  Ranging ranging_;
  Neighbours neighbours_;
  SizeEstimate size_;
  std::uint64_t measurements_ = 0;
  Time measured_at_{0};
  Time strangers_at_{0};
  RateLimit reported_lies_{std::chrono::seconds(10), 1};
  Time aged_at_{0};
  Time refuted_at_ = -std::chrono::seconds(1);
  LastSeen last_seen_;
  Rejoin rejoin_;
};

}  // namespace gw::overlay
