#include "peer/admissions.h"

#include <algorithm>

namespace gw::peer {
namespace {

using overlay::invitation_of;
using overlay::kMembersOfInvitation;
using overlay::make_membership;
using overlay::make_revocations;
using overlay::Membership;
using overlay::Revocations;
using wire::Invitation;

std::uint64_t end_of(WallSeconds from, std::chrono::seconds span) { return static_cast<std::uint64_t>((from + span).count()); }

// Only the clock of this holder counts, so invitations need none of the tolerance that memberships have.
bool is_over(WallSeconds now, std::uint64_t until) { return now > WallSeconds(0) && static_cast<std::uint64_t>(now.count()) > until; }

std::uint64_t fresh_invitation(const GridCredentials& credentials, Rng& rng) {
  for (;;) {
    const std::uint64_t serial = invitation_of(rng.next());
    const auto taken = [&](const auto& entry) { return invitation_of(entry.first) == serial; };
    if (serial != 0 && !credentials.invitations.contains(serial) && std::ranges::none_of(credentials.members, taken)) return serial;
  }
}

// Serials are random, not counted: several holders issue them independently, and random ones seldom collide.
std::uint64_t fresh_member(const GridCredentials& credentials, std::uint64_t invitation, Rng& rng) {
  for (;;) {
    const std::uint64_t serial = invitation | (1 + rng.below(kMembersOfInvitation));
    if (!credentials.members.contains(serial)) return serial;
  }
}

Error no_key(const GridCredentials& credentials) {
  return fail(Kind::invalid, "this peer does not hold the key of grid '{}': ask its creator, or a machine invited with --admin",
              credentials.name);
}

SigningKey key_of(const GridCredentials& credentials) { return SigningKey(*credentials.secret); }

bool is_newer(const Revocations& list, const Revocations& than) {
  return list.version > than.version || (list.version == than.version && list.signature > than.signature);
}

}  // namespace

GridCredentials found_grid(const std::string& name, const GridCredentials::Secret& secret, const PublicKey& self, WallSeconds now,
                           Rng& rng) {
  GridCredentials credentials = GridCredentials::open(name);
  credentials.secret = secret;
  const SigningKey key(secret);
  credentials.key = key.public_key();
  credentials.id = {sha256(*credentials.key)};
  credentials.membership =
      make_membership(key, self, fresh_member(credentials, fresh_invitation(credentials, rng), rng), end_of(now, kMembershipLasts));
  return credentials;
}

Result<Invitation> invite(GridCredentials& credentials, const InvitationTerms& terms, WallSeconds now, Rng& rng) {
  if (!credentials.secret) return no_key(credentials);
  if (terms.uses == 0) return fail(Kind::invalid, "--uses takes 1 to 65535");
  if (terms.lasts < std::chrono::seconds(1) || terms.lasts > kLongestInvitation)
    return fail(Kind::invalid, "--expires takes a time from one second to a year, for example 30m, 12h or 7d");
  if (terms.addresses.empty())
    return fail(Kind::invalid, "this peer does not know where others reach it: start it with --listen ADDRESS:PORT, or give --address");
  std::erase_if(credentials.invitations, [&](const auto& entry) { return is_over(now, entry.second.until); });
  if (credentials.invitations.size() >= GridCredentials::kMaxInvitations)
    return fail(Kind::overloaded, "{} invitations are still good: revoke some, or wait until they expire", credentials.invitations.size());
  Invitation invitation{.grid_key = *credentials.key,
                        .name = credentials.name,
                        .serial = fresh_invitation(credentials, rng),
                        .until = end_of(now, terms.lasts),
                        .uses = terms.uses,
                        .role = terms.role,
                        .addresses = terms.addresses};
  sign(key_of(credentials), invitation);
  credentials.invitations[invitation.serial] = {invitation.until, invitation.uses, invitation.role};
  return invitation;
}

Result<Membership> admit(GridCredentials& credentials, const Invitation& invitation, const GridCredentials::Member& who,
                         const PublicKey& key, WallSeconds now, Rng& rng) {
  if (!credentials.secret) return fail(Kind::not_found, "the peer that was asked does not hold the key of the grid");
  if (credentials.revocations.names(invitation.serial)) return fail(Kind::invalid, "the invitation was revoked: ask for another one");
  if (is_over(now, invitation.until)) return fail(Kind::invalid, "the invitation has expired: ask for another one");
  std::uint32_t used = 0;
  for (const auto& [serial, member] : credentials.members) {
    if (invitation_of(serial) != invitation.serial) continue;
    if (credentials.revocations.names(serial) && member.peer == who.peer)
      return fail(Kind::invalid, "the membership that came of this invitation was revoked: ask for another one");
    if (member.peer == who.peer) return make_membership(key_of(credentials), key, serial, member.until);
    ++used;
  }
  if (used >= invitation.uses)
    return fail(Kind::invalid, "the invitation has already been used (--uses {}): ask for another one", invitation.uses);
  if (credentials.members.size() >= GridCredentials::kMaxMembers)
    return fail(Kind::invalid, "this holder has admitted {} members, which is its limit", credentials.members.size());
  const std::uint64_t serial = fresh_member(credentials, invitation.serial, rng);
  const std::uint64_t until = end_of(now, kMembershipLasts);
  credentials.members[serial] = {who.peer, who.name, until};
  return make_membership(key_of(credentials), key, serial, until);
}

Result<Revocations> revoke(const GridCredentials& credentials, const std::vector<std::uint64_t>& serials) {
  if (!credentials.secret) return no_key(credentials);
  std::vector<std::uint64_t> all = credentials.revocations.serials;
  all.insert(all.end(), serials.begin(), serials.end());
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  if (all.size() > Revocations::kMost)
    return fail(Kind::overloaded, "{} serials are revoked, which is the most that a grid can have: make a new grid",
                credentials.revocations.serials.size());
  return make_revocations(key_of(credentials), credentials.revocations.version + 1, std::move(all));
}

bool brings_news(const GridCredentials& credentials, const Revocations& heard) {
  const Revocations& mine = credentials.revocations;
  if (heard == mine) return false;
  return is_newer(heard, mine) || (credentials.secret && !std::ranges::includes(mine.serials, heard.serials));
}

std::optional<Revocations> merge(const GridCredentials& credentials, const Revocations& heard) {
  const Revocations& mine = credentials.revocations;
  if (!brings_news(credentials, heard)) return std::nullopt;
  if (!credentials.secret || (is_newer(heard, mine) && std::ranges::includes(heard.serials, mine.serials))) return heard;
  GridCredentials joint = credentials;
  joint.revocations.version = std::max(mine.version, heard.version);
  auto both = revoke(joint, heard.serials);
  return both ? std::optional(*std::move(both)) : std::nullopt;
}

}  // namespace gw::peer
