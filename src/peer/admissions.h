#pragma once
// What a holder of a grid's key does for others: invitations, memberships, revocations. Functions without state but that of the pass.

#include "base/rng.h"
#include "peer/grid_pass.h"
#include "wire/peer.pb.h"

namespace gw::peer {

using overlay::WallSeconds;

// How long a membership lasts. It ends earlier by being revoked.
inline constexpr WallSeconds kMembershipLasts = std::chrono::years(10);
inline constexpr WallSeconds kLongestInvitation = std::chrono::years(1);

// A pass for a new grid, whose founder is `self`. Serials are drawn from `rng`.
GridPass found_grid(const std::string& name, const GridPass::Secret& secret, const PublicKey& self, WallSeconds now, Rng& rng);

struct InvitationTerms {
  std::uint16_t uses = 1;
  std::chrono::seconds lasts = std::chrono::days(7);
  wire::Invitation::Role role = wire::Invitation::Role::member;
  std::vector<std::string> addresses;  // where this peer is reached
};
// Made and written into the pass. Kind::invalid: this peer holds no key, or the terms are wrong; Kind::overloaded.
Result<wire::Invitation> invite(GridPass& pass, const InvitationTerms& terms, WallSeconds now, Rng& rng);

// Somebody shows an invitation. The same one again gets the same membership. Kind::invalid: why it is not let in; Kind::not_found: no key.
Result<overlay::Membership> admit(GridPass& pass, const wire::Invitation& invitation, const GridPass::Member& who, const PublicKey& key,
                                  WallSeconds now, Rng& rng);

// A newer list, with these serials besides. Kind::invalid: no key; Kind::overloaded: the list is full.
Result<overlay::Revocations> revoke(const GridPass& pass, const std::vector<std::uint64_t>& serials);

// The list that is in force when `heard` was heard of, if it is another one than that of the pass. A holder puts both together, so that
// nothing gets lost if two holders revoke at the same time. REQUIRES: `heard` was checked.
std::optional<overlay::Revocations> merge(const GridPass& pass, const overlay::Revocations& heard);

}  // namespace gw::peer
