#pragma once
// Pings on behalf of others, who cannot reach somebody.

#include <vector>

#include "base/rate_limit.h"
#include "overlay/output.h"

namespace gw::overlay {

// SWIM's indirect ping, at the one who is asked for it: pings the peer, telling it that it is doubted, and hands on the newer descriptor
// with which the peer refutes that. So the word of the one in between is worth nothing without the peer's own signature.
//
// Limits: Config. Whoever asks for more is not answered, which costs it nothing but a helper. No nacks as in Lifeguard.
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
  // A genuine one, from wherever.
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

// A ping; with an incarnation: one that is to be refuted.
Message make_ping(std::uint64_t number, const Incarnation* suspected);

}  // namespace gw::overlay
