#pragma once
// Who of a neighbourhood has slots free.

#include <map>
#include <span>
#include <variant>

#include "overlay/contacts.h"
#include "overlay/leafset.h"

namespace gw::overlay {

// The decision of a peer that a request for slots has come to: take it, hand it to a leaf that has more room, or refuse. What a leaf has
// free is known from its descriptor, and may be old; so whoever gets a request from a root may hand it on as well. Who sees nobody with
// room hands it to its farthest leaf on the side away from the key, who sees others: 49 peers are looked at before one is refused.
//
// An answer promises nothing, claims do (job/slot_leases.h); but what was just given away is not given again for a moment, lest a burst
// of requests all gets the same answer. Limits: Config.
//
// Differences from PAST: slots are counted, not weighed against thresholds, because they are renewable; diversion thrice instead of once;
// no pointer stays at the root, since home knows where its threads run. Who is refused takes another salt (lookup.h).
class Placer {
 public:
  struct Config {
    std::uint32_t diversions = 3;
    std::uint32_t searches = 2;                  // of those: to somebody who is not known to have room
    Time grant_lasts = std::chrono::seconds(1);  // a claim comes within a round trip or two
    std::size_t recent_grants = 64;
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
    Hash256 key;
    std::uint32_t demand;
    std::uint32_t diversions;  // so far
  };

  Placer(const Config& config, const Descriptor& self, const Leafset& leafset, const Contacts& contacts)
      : config_(config), self_(self), leafset_(leafset), contacts_(contacts) {}

  Decision decide(Time now, const Request& request);

 private:
  struct RecentGrant {
    std::uint32_t slots;
    Time until;
  };

  std::uint32_t free_at(const Descriptor& peer) const;
  void give(Time now, const PeerId& peer, std::uint32_t slots);
  const Descriptor* farthest_from(const Hash256& key) const;

  const Config config_;
  const Descriptor& self_;
  const Leafset& leafset_;
  const Contacts& contacts_;
  std::map<PeerId, RecentGrant> recent_grants_;
};

}  // namespace gw::overlay
