#pragma once
// Placement by key: finds a peer near the key that has free slots.

#include <map>
#include <span>
#include <variant>

#include "overlay/membership/contacts.h"
#include "overlay/tables/leafset.h"

namespace gw::overlay {

// The decision of a peer that gets a request for slots: accept it, pass it to a leaf with more room, or refuse it. The free slots of a leaf
// are known from its descriptor, which may be old, so the leaf may pass the request on too. A peer that knows no leaf with room passes the
// request to its farthest leaf on the side away from the key, which knows other peers: 49 peers are considered before a request is refused.
//
// An answer reserves nothing; a claim does (job/host/slot_leases.h). Slots that were just offered are not offered again for
// Config::grant_lasts, so that not all requests of a burst get the same answer. Limits: Config.
//
// Differences from PAST: slots are counted, not weighed against thresholds, because they are renewable; diversion thrice instead of once;
// no pointer stays at the root, since home knows where its threads run. A refused request is repeated with another salt (lookup.h).
class Placer {
 public:
  struct Config {
    std::uint32_t diversions = 3;
    std::uint32_t searches = 2;                  // of the diversions: to a peer that is not known to have room
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
