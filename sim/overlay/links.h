#pragma once
// The open connections between the hosts of an overlay simulation.

#include <cstdint>
#include <vector>

#include "outcome.h"

namespace gw::sim::overlay_simulation {

// At most one connection per pair, known at both ends. Limits as in the transport: a host with more than kKept connections closes its least
// recently used one if it has been idle for a while, and at kMost at once. Both ends agree on the close, so neither gets an event.
class Links {
 public:
  static constexpr std::size_t kKept = 256;
  static constexpr Time kSpare = std::chrono::seconds(30);
  static constexpr std::size_t kMost = 1024;
  static constexpr Time kSpareInAHurry = std::chrono::milliseconds(250);

  explicit Links(std::uint32_t hosts) : ends_(hosts) {}

  // Also marks the connection as used at this end; called where a message is sent and where it arrives. Changes nothing else.
  bool use(std::uint32_t at, std::uint32_t other, Time now);
  bool open(std::uint32_t a, std::uint32_t b) const;
  // False: one of the hosts has no room.
  bool add(std::uint32_t a, std::uint32_t b, Time now);
  void remove(std::uint32_t a, std::uint32_t b);
  // Removes all connections of a host; returns the hosts at the other ends.
  std::vector<std::uint32_t> remove_all(std::uint32_t host);

 private:
  struct End {  // small: there are a million of them
    std::uint32_t other;
    std::uint32_t used;  // in milliseconds of the run
  };
  using Ends = std::vector<End>;  // by `other`

  Ends::iterator place(std::uint32_t host, std::uint32_t other);
  bool make_room(std::uint32_t host, Time now);

  std::vector<Ends> ends_;
};

}  // namespace gw::sim::overlay_simulation
