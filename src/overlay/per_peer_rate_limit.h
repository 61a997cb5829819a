#pragma once
// How many requests of one peer, and of all, are served.

#include <map>

#include "wire/names.h"

namespace gw::overlay {

// Counts within periods of a fixed length that follow each other. Limits: Config; admit() is false for a request beyond them.
class PerPeerRateLimit {
 public:
  struct Config {
    wire::Time period;
    std::size_t per_peer;
    std::size_t peers;
  };

  explicit PerPeerRateLimit(const Config& config) : config_(config) {}

  bool admit(wire::Time now, const wire::PeerId& peer) {
    if (now - since_ >= config_.period) {
      since_ = now;
      counts_.clear();
    }
    if (counts_.size() >= config_.peers && !counts_.contains(peer)) return false;
    return ++counts_[peer] <= config_.per_peer;
  }

 private:
  const Config config_;
  wire::Time since_{0};
  std::map<wire::PeerId, std::size_t> counts_;
};

}  // namespace gw::overlay
