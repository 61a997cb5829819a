#pragma once
// Peers that were declared dead, while old descriptors of them still circulate.

#include <map>
#include <vector>

#include "overlay/membership/descriptor.h"

namespace gw::overlay {

// A tombstone keeps descriptors that are not newer out of the tables, and shows users which peers were there.
//
// Limits: Config; the oldest make room, and each expires.
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
  // Whether a descriptor is of a peer that was declared dead, and not newer than the death. `round`: the present whole round of this peer.
  bool covers(const Descriptor& peer, std::uint64_t round) const;
  std::vector<const Tombstone*> all() const;  // by id
  std::size_t size() const { return tombstones_.size(); }

 private:
  const Config config_;
  std::map<PeerId, Tombstone> tombstones_;
};

}  // namespace gw::overlay
