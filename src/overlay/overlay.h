#pragma once
// A peer's view of one grid.

#include <string>
#include <vector>

#include "base/rng.h"
#include "overlay/contacts.h"
#include "overlay/heard.h"
#include "overlay/output.h"
#include "overlay/rejoin.h"
#include "overlay/ring.h"
#include "overlay/sampler.h"

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
    std::string address;             // where this peer is reached; empty: nowhere
    std::vector<std::string> known;  // addresses to join through, always tried again
    Time youth = std::chrono::seconds(60);
    Time young_round = std::chrono::seconds(1);
    Time round = std::chrono::seconds(5);
    Sampler::Config sampler{};
    Ring::Config ring{};
    Heard::Config heard{};
    Rejoin::Config rejoin{};
  };
  struct Self {
    PeerId id;
    PublicKey key;
    std::uint64_t boot;  // higher than in all lives before
  };

  Overlay(const Config& config, const Self& self, const Notary& notary, Rng rng);
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
  void on_heard(Time now, const PeerId& from, Output& out);
  // A job is done together with that peer: from now on, and for a while after the last call, it is watched closely.
  void in_touch(Time now, const PeerId& with, Output& out);
  void on_tick(Time now, Output& out);
  Time next_deadline() const;

  void set_slots(std::uint32_t slots, std::uint32_t free_slots);
  // Leaves on purpose.
  void leave(Output& out);

  // For the machines of jobs, for people and checkers.
  bool alive(const PeerId& peer) const;
  struct Known {
    Descriptor descriptor;
    enum class State : std::uint8_t { alive, suspected, dead } state;
    Time heard = kNever;  // kNever: not heard from, only heard of
    Time distance{0};     // round trip, measured or estimated
  };
  std::vector<Known> all() const;  // the others, by id
  const Descriptor& self() const { return own_; }
  const Sampler& sampler() const { return sampler_; }
  const Ring& ring() const { return ring_; }
  std::vector<std::string> to_remember() const;

 private:
  // What machines see of each other's tables.
  class Tables : public Contacts {
   public:
    explicit Tables(const Overlay& overlay) : overlay_(overlay) {}
    const Descriptor* find(const PeerId& peer) const override;
    std::vector<PeerId> all() const override;
    bool is_suspected(const PeerId& peer) const override;

   private:
    const Overlay& overlay_;
  };

  void begin_round(Time now, Output& out);
  void renew_self();
  Time round_length(Time now) const { return now - born_ < config_.youth ? config_.young_round : config_.round; }
  void serve(Sampler::Need need, Time now, Output& out);
  // Grid, rumours and addresses of everything that was added to `out` since it had `before` messages.
  void finish(std::size_t before, Output& out);

  void dispatch(Time now, const PeerId& from, const Message& message, Output& out);
  void on_gossip(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out);
  void on_gossip_reply(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out);
  void on_ring(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out);
  void on_ring_reply(Time now, const PeerId& from, const Message::Gossip& gossip, Output& out);
  void on_ping(const PeerId& from, const Message::Ping& ping, Output& out);
  void refuse(const PeerId& peer, const char* sentence, Output& out);

  bool wanted(const Descriptor& descriptor) const;
  // Reads it, and stores it where it is wanted and genuine.
  void learn(Time now, const wire::pb::Descriptor& message, Output& out);
  void learn(Time now, const Descriptor& descriptor, Output& out);
  // The sender's own. Nothing: it is not its own, or forged, which is reported.
  std::optional<Descriptor> learn_sender(Time now, const PeerId& from, const wire::pb::Descriptor& message, Output& out);
  void store(Time now, const Descriptor& descriptor, Output& out);

  const Config config_;
  const Notary& notary_;
  Rng rng_;
  Descriptor own_;
  Time born_{0};
  Time round_at_ = kNever;
  const Tables tables_{*this};
  Sampler sampler_;
  Ring ring_;
  Heard heard_;
  Rejoin rejoin_;
};

}  // namespace gw::overlay
