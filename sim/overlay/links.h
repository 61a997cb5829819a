#pragma once
// The open connections between the hosts of an overlay simulation.

#include <cstdint>
#include <vector>

#include "outcome.h"

namespace gw::sim::overlay_simulation {

// At most one for each pair, known at both ends, and as many as the transport keeps: a host with more than kKept closes the one it has not
// used for the longest time, if that is a while ago, by agreement with the other end: nobody is told. At kMost it is in a hurry.
class Links {
 public:
  static constexpr std::size_t kKept = 256;
  static constexpr Time kSpare = std::chrono::seconds(30);
  static constexpr std::size_t kMost = 1024;
  static constexpr Time kSpareInAHurry = std::chrono::milliseconds(250);

  explicit Links(std::uint32_t hosts) : ends_(hosts) {}

  // Also notes that it is in use, at this end: a message is noted where it is sent, and where it arrives. Touches nothing else.
  bool use(std::uint32_t at, std::uint32_t other, Time now);
  bool open(std::uint32_t a, std::uint32_t b) const;
  // False: one of them has no room.
  bool add(std::uint32_t a, std::uint32_t b, Time now);
  void remove(std::uint32_t a, std::uint32_t b);
  // All of a host; returns who was at the other ends.
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
