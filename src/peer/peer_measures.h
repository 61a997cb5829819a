#pragma once
// The strength of other peers, as far as it is known here: their offers, and the speed of the network to them.

#include <cstdint>
#include <map>
#include <optional>

#include "job/actions.h"
#include "job/placing/capacity.h"

namespace gw::peer {

using job::JobMessage;
using job::PeerId;
using job::Time;

// The speed of the network is measured in use: the bytes of blobs that a peer has sent on request, over the time in which this peer waited
// for them. A gap longer than Config::longest_gap counts as that long, because a request may have been lost.
//
// Limits: Config::peers; beyond that the peer of which nothing was heard for longest is forgotten. Costs: O(log peers) per message,
// O(peers) for a peer more than the limit. A value without I/O, clock or threads.
class PeerMeasures {
 public:
  struct Config {
    std::size_t peers = 1024;
    Time longest_gap = std::chrono::seconds(2);
    std::uint64_t half_life_bytes = 64u << 20;  // older bytes count less
    std::uint64_t least_bytes = 256u << 10;     // fewer say nothing about the speed
  };
  struct Entry {
    std::optional<job::Capacity> capacity;  // as the peer offered last
    std::uint64_t bytes = 0;
    Time took{0};
    std::uint32_t asked = 0;  // blobs that have not come
    Time waits_since{0};      // or since the last one came
    Time heard{0};
  };

  explicit PeerMeasures(const Config& config) : config_(config) {}

  void on_sent(Time now, const PeerId& to, const JobMessage& message);
  void on_received(Time now, const PeerId& from, const JobMessage& message);
  // REQUIRES: job::check() has passed it.
  void on_capacity(Time now, const PeerId& from, const job::Capacity& capacity) { entry_of(now, from).capacity = capacity; }

  const job::Capacity* capacity_of(const PeerId& peer) const;
  // Bytes per second; none: too few came.
  std::optional<double> network_speed_of(const PeerId& peer) const;
  std::size_t size() const { return entries_.size(); }

 private:
  Entry& entry_of(Time now, const PeerId& peer);

  const Config config_;
  std::map<PeerId, Entry> entries_;
};

}  // namespace gw::peer
