#pragma once
// A host of an overlay simulation: the machine, its process and the overlay in the process.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "outcome.h"
#include "overlay/byzantine_peer.h"
#include "overlay/overlay.h"
#include "overlay/sim_signer.h"
#include "overlay/turn.h"

namespace gw::sim::overlay_simulation {

struct Host {
  enum class Power : std::uint8_t { on, process_dead, off };
  // Whether others can dial the host; if not, whether a dial is refused or not answered.
  enum class Firewall : std::uint8_t { none, silent, refusing };

  Host(std::uint32_t number, const SimSigner& made_signer, std::string made_address, Rng made_luck)
      : index(number), signer(made_signer), id(signer.id_of(signer.key())), address(std::move(made_address)), luck(made_luck) {}

  bool up() const { return power == Power::on; }
  // Whether the goals of a scenario apply to this host: it is up and honest.
  bool counts() const { return up() && byzantine == nullptr; }
  bool paused(Time now) const { return now < paused_until; }
  // The host's clock, which drifts and jumps; and its inverse.
  Time local(Time now) const { return clock_offset + now + Time(static_cast<std::int64_t>(static_cast<double>(now.count()) * drift)); }
  Time world(Time local) const {
    return Time(static_cast<std::int64_t>(static_cast<double>((local - clock_offset).count()) / (1 + drift))) + Time(1);
  }

  std::uint32_t index;
  SimSigner signer;
  gw::overlay::PeerId id;
  std::string address;  // as the host announces it; empty: it announces none
  std::unique_ptr<gw::overlay::Overlay> overlay;
  std::unique_ptr<ByzantinePeer> byzantine;  // null: honest
  std::vector<std::string> remembered;
  Rng luck;  // for the fate of its messages

  Power power = Power::off;
  Firewall firewall = Firewall::none;
  std::uint32_t life = 0;
  std::uint32_t side = 0;  // of a partition
  Time paused_until{0};
  Time lag{0};  // processing time per message
  double drift = 0;
  Time clock_offset{0};
  Time tick_at = wire::kNever;
  Time started{0};
  bool permanently_dead = false;  // does not come back
  std::uint32_t free_slots = 0;

  std::uint32_t last_turn = Turn::kNone;  // of its waiting turns

  std::uint64_t bytes_sent = 0;
  std::uint64_t messages_sent = 0;
};

}  // namespace gw::sim::overlay_simulation
