#pragma once
// Who of a neighbourhood has slots free.

#include <map>
#include <span>
#include <variant>

#include "base/rng.h"
#include "overlay/contacts.h"
#include "overlay/leafset.h"

namespace gw::overlay {

// The decision of a peer that a request for slots has come to: take it, hand it to a leaf that has more room, or refuse. What a leaf has
// free is known from its descriptor, and may be old; so whoever gets a request from a root may hand it on once more. A root that
// sees nobody with room hands it to its farthest leaf, who sees others: 33 peers are tried before one is refused.
//
// An answer promises nothing, claims do (job/slot_book.h); but what was just given away is not given again for a moment, lest a burst
// of requests all gets the same answer. Limits: Config.
//
// Differences from PAST: slots are counted, not weighed against thresholds, because they are renewable; diversion twice instead of once;
// no pointer stays at the root, since home knows where its threads run. Who is refused takes another salt (lookup.h).
class Placer {
 public:
  struct Config {
    std::uint32_t diversions = 2;
    Time given_for = std::chrono::seconds(5);
    std::size_t given = 64;
  };
  struct Accept {};
  struct Divert {
    const Descriptor* to;
  };
  struct Refuse {
    std::uint32_t free_slots;  // the most it has seen
  };
  using Decision = std::variant<Accept, Divert, Refuse>;
  struct Request {
    std::uint32_t demand;
    std::uint32_t diversions;  // so far
  };

  Placer(const Config& config, const Descriptor& self, const Leafset& leafset, const Contacts& contacts, Rng rng)
      : config_(config), self_(self), leafset_(leafset), contacts_(contacts), rng_(rng) {}

  Decision decide(Time now, const Request& request);

 private:
  struct Given {
    std::uint32_t slots;
    Time until;
  };

  std::uint32_t free_at(const Descriptor& peer) const;
  void give(Time now, const PeerId& peer, std::uint32_t slots);
  const Descriptor* farthest();

  const Config config_;
  const Descriptor& self_;
  const Leafset& leafset_;
  const Contacts& contacts_;
  Rng rng_;
  std::map<PeerId, Given> given_;
};

}  // namespace gw::overlay
