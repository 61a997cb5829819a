#pragma once
// Services of a holder of a grid's key: invitations, memberships, revocations. Functions without state but that of the
// credentials.

#include "base/rng.h"
#include "peer/grid_credentials.h"
#include "wire/peer.pb.h"

namespace gw::peer {

using overlay::WallSeconds;

// How long a membership lasts. It ends earlier by being revoked.
inline constexpr WallSeconds kMembershipLasts = std::chrono::years(10);
inline constexpr WallSeconds kLongestInvitation = std::chrono::years(1);

// Credentials for a new grid, whose founder is `self`. Serials are drawn from `rng`.
GridCredentials found_grid(const std::string& name, const GridCredentials::Secret& secret, const PublicKey& self, WallSeconds now,
                           Rng& rng);

struct InvitationTerms {
  std::uint16_t uses = 1;
  std::chrono::seconds lasts = std::chrono::days(7);
  wire::Invitation::Role role = wire::Invitation::Role::member;
  std::vector<std::string> addresses;  // where this peer is reached
};
// Makes an invitation and adds it to the credentials. Kind::invalid: this peer holds no key, or the terms are wrong; Kind::overloaded.
Result<wire::Invitation> invite(GridCredentials& credentials, const InvitationTerms& terms, WallSeconds now, Rng& rng);

// Admits a peer that shows an invitation; the same peer again gets the same membership. Kind::invalid: refused, with the reason;
// Kind::not_found: this peer holds no key.
Result<overlay::Membership> admit(GridCredentials& credentials, const wire::Invitation& invitation, const GridCredentials::Member& who,
                                  const PublicKey& key, WallSeconds now, Rng& rng);

// Makes a newer list with these serials added. Kind::invalid: this peer holds no key; Kind::overloaded: the list is full.
Result<overlay::Revocations> revoke(const GridCredentials& credentials, const std::vector<std::uint64_t>& serials);

// Whether merge() would change the list. Asked before the signature of `heard` is checked.
bool brings_news(const GridCredentials& credentials, const overlay::Revocations& heard);

// The list to use after `heard` was received; none: the present one stays. A holder merges both lists, so that no serial is lost if two
// holders revoke at the same time. REQUIRES: `heard` was checked.
std::optional<overlay::Revocations> merge(const GridCredentials& credentials, const overlay::Revocations& heard);

}  // namespace gw::peer
