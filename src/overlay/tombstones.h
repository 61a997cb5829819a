#pragma once
// The dead, as long as somebody may still speak of them as living.

#include <map>
#include <vector>

#include "overlay/descriptor.h"

namespace gw::overlay {

// A tombstone keeps descriptors that are not newer from coming back, and shows people who was there.
//
// Limits: Config; the oldest make room, and none is kept for ever.
class Tombstones {
 public:
  struct Config {
    std::size_t most = 256;
    Time kept = std::chrono::minutes(15);
  };
  struct Tombstone {
    Descriptor peer;
    Time since{0};            // when it was declared dead
    std::uint64_t round = 0;  // whole round of this peer in which its silence began
  };

  explicit Tombstones(const Config& config) : config_(config) {}

  void add(Tombstone tombstone);
  bool remove(const PeerId& peer) { return tombstones_.erase(peer) > 0; }
  void expire(Time now);

  const Tombstone* find(const PeerId& peer) const;
  // Whether a descriptor is of a life that is over. `round`: this peer's, now.
  bool covers(const Descriptor& peer, std::uint64_t round) const;
  std::vector<const Tombstone*> all() const;  // by id
  std::size_t size() const { return tombstones_.size(); }

 private:
  const Config config_;
  std::map<PeerId, Tombstone> tombstones_;
};

}  // namespace gw::overlay
