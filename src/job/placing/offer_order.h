#pragma once
// Which of several offers of slots is the best.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "job/names.h"

namespace gw::job {

// An offer as it is compared with others.
struct RatedOffer {
  PeerId peer;
  std::uint32_t slots = 0;
  double speed = 0;        // of one core; 0: not known
  double load = 0;         // share of its cores that others use
  Time distance = kNever;  // estimated round trip; kNever: not known
  double success = 1;      // share of the work of this home that ended well there
  std::uint64_t uptime_s = 0;
  std::string network = {};  // in which it is, as far as spread() is concerned
};

// The offers by the expected end of work that would go there: speed times the share of the cores that is free. At equal speed the nearer
// one first, then the one with more success, then the one that is up for longer, then by id.
//
// Measured speeds of equal machines differ by some percent. Speeds therefore count as equal within kEqualSpeeds of the fastest one, then
// within kEqualSpeeds of the fastest one left, and so on. A peer of unknown speed counts as the slower middle one of those that are known.
inline constexpr double kEqualSpeeds = 0.8;
std::vector<RatedOffer> best_first(std::vector<RatedOffer> offers);

// A number of slots of one offer.
struct SlotShare {
  PeerId peer;
  std::uint32_t slots;

  auto operator<=>(const SlotShare&) const = default;
};
// Takes the first offers whole until there are `wanted` slots.
std::vector<SlotShare> fill(const std::vector<RatedOffer>& offers, std::uint32_t wanted);
// Takes one slot of each offer before a second one of any, and of each offer of another network before a second one of any network.
// Networks in `used` come last in each turn.
std::vector<SlotShare> spread(const std::vector<RatedOffer>& offers, std::uint32_t wanted, const std::set<std::string>& used);

}  // namespace gw::job
