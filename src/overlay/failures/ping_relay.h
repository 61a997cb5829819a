#pragma once
// Pings on behalf of other peers that get no answer.

#include <vector>

#include "base/rate_limit.h"
#include "overlay/output.h"

namespace gw::overlay {

// SWIM's indirect ping, at the helper: pings the peer, tells it that it is in doubt, and passes on the newer descriptor with which the peer
// refutes that. Therefore a helper's answer counts only with the signature of the peer in question.
//
// Limits: Config. A request beyond them is not answered, which costs the asking peer only a helper. No nacks as in Lifeguard.
class PingRelay {
 public:
  struct Config {
    std::size_t most = 64;
    std::size_t per_asker = 4;
    Time patience = std::chrono::seconds(5);
    Time every = std::chrono::milliseconds(100);
    int burst = 20;
  };

  explicit PingRelay(const Config& config) : config_(config), rate_limit_(config.every, config.burst) {}

  // REQUIRES: `about` is genuine. `ping`: the number for a ping of this peer's own.
  void on_ping_for(Time now, const PeerId& asker, const Message::PingFor& request, const Descriptor& about, std::uint64_t ping,
                   Output& out);
  // Called for every genuine descriptor, from any peer.
  void on_descriptor(const Descriptor& peer, Output& out);
  bool wants(const Descriptor& peer) const;
  std::size_t size() const { return relayed_pings_.size(); }

 private:
  struct RelayedPing {
    PeerId asker;
    std::uint64_t number;
    PeerId about;
    Incarnation incarnation;  // to be refuted
    Time until;
  };

  const Config config_;
  RateLimit rate_limit_;
  std::vector<RelayedPing> relayed_pings_;  // in the order in which they were asked for
};

// A ping; with an incarnation, it asks the peer to refute that incarnation's death.
Message make_ping(std::uint64_t number, const Incarnation* suspected);

}  // namespace gw::overlay
