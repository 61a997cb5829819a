#pragma once
// A lying peer: changes the messages of the honest overlay inside it.

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "overlay/output.h"
#include "overlay/sim_signer.h"

namespace gw::sim::overlay_simulation {

// Each Byzantine peer has some of the lies below, drawn once. It can sign only in its own name. It makes lies from messages that it sends
// and receives.
class ByzantinePeer {
 public:
  enum Lie : std::uint8_t { coordinates, forgeries, stale, floods, replays, rumours, routes, kLies };

  ByzantinePeer(const gw::overlay::GridId& grid, const SimSigner& signer, Rng rng);

  // The messages that leave instead of a message of the overlay.
  std::vector<gw::overlay::Send> twist(gw::overlay::Send send);
  // Remembers a received message as material for later lies.
  void overhear(const gw::overlay::Message& message);

 private:
  using Gossip = gw::overlay::Message::Gossip;

  bool tells(Lie lie) const { return (lies_ >> lie) & 1; }
  void move(gw::overlay::Message& message);
  void restate(wire::pb::Descriptor& self) const;
  void distort(Gossip& gossip);
  void accuse(gw::overlay::Message& message);
  void misroute(gw::overlay::Message& message);

  static constexpr std::size_t kMemory = 32;
  gw::overlay::GridId grid_;
  const SimSigner& signer_;
  Rng rng_;
  std::uint32_t lies_ = 0;
  gw::overlay::Coordinate elsewhere_;
  std::vector<wire::pb::Descriptor> old_descriptors_;
  std::vector<gw::overlay::Message> old_messages_;
};

}  // namespace gw::sim::overlay_simulation
