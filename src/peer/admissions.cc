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

// By the clock of the holder that is asked: nobody else decides, so none of the tolerance that memberships have.
bool is_over(WallSeconds now, std::uint64_t until) { return now > WallSeconds(0) && static_cast<std::uint64_t>(now.count()) > until; }

std::uint64_t fresh_invitation(const GridPass& pass, Rng& rng) {
  for (;;) {
    const std::uint64_t serial = invitation_of(rng.next());
    const auto taken = [&](const auto& entry) { return invitation_of(entry.first) == serial; };
    if (serial != 0 && !pass.invitations.contains(serial) && std::ranges::none_of(pass.members, taken)) return serial;
  }
}

// Another holder may let somebody in with the same invitation: drawn, not counted, they seldom meet.
std::uint64_t fresh_member(const GridPass& pass, std::uint64_t invitation, Rng& rng) {
  for (;;) {
    const std::uint64_t serial = invitation | (1 + rng.below(kMembersOfInvitation));
    if (!pass.members.contains(serial)) return serial;
  }
}

Error no_key(const GridPass& pass) {
  return fail(Kind::invalid, "this peer does not hold the key of grid '{}': ask one of those who made it, or were invited with --admin",
              pass.name);
}

SigningKey key_of(const GridPass& pass) { return SigningKey(*pass.secret); }

}  // namespace

GridPass found_grid(const std::string& name, const GridPass::Secret& secret, const PublicKey& self, WallSeconds now, Rng& rng) {
  GridPass pass = GridPass::open(name);
  pass.secret = secret;
  const SigningKey key(secret);
  pass.key = key.public_key();
  pass.id = {sha256(*pass.key)};
  pass.membership = make_membership(key, self, fresh_member(pass, fresh_invitation(pass, rng), rng), end_of(now, kMembershipLasts));
  return pass;
}

Result<Invitation> invite(GridPass& pass, const InvitationTerms& terms, WallSeconds now, Rng& rng) {
  if (!pass.secret) return no_key(pass);
  if (terms.uses == 0) return fail(Kind::invalid, "an invitation is for one at least: --uses takes 1 to 65535");
  if (terms.lasts < std::chrono::seconds(1) || terms.lasts > kLongestInvitation)
    return fail(Kind::invalid, "an invitation is good for a second to a year: --expires takes 30m, 12h, 7d");
  if (terms.addresses.empty())
    return fail(Kind::invalid, "this peer does not know where others reach it: start it with --listen ADDRESS:PORT, or give --address");
  std::erase_if(pass.invitations, [&](const auto& entry) { return is_over(now, entry.second.until); });
  if (pass.invitations.size() >= GridPass::kMaxInvitations)
    return fail(Kind::overloaded, "{} invitations are still good: revoke some, or wait until they expire", pass.invitations.size());
  Invitation invitation{.grid_key = *pass.key,
                        .name = pass.name,
                        .serial = fresh_invitation(pass, rng),
                        .until = end_of(now, terms.lasts),
                        .uses = terms.uses,
                        .role = terms.role,
                        .addresses = terms.addresses};
  sign(key_of(pass), invitation);
  pass.invitations[invitation.serial] = {invitation.until, invitation.uses, invitation.role};
  return invitation;
}

Result<Membership> admit(GridPass& pass, const Invitation& invitation, const GridPass::Member& who, const PublicKey& key, WallSeconds now,
                         Rng& rng) {
  if (!pass.secret) return fail(Kind::not_found, "the peer that was asked does not hold the key of the grid");
  if (pass.revocations.names(invitation.serial)) return fail(Kind::invalid, "the invitation was revoked: ask for another one");
  if (is_over(now, invitation.until)) return fail(Kind::invalid, "the invitation has expired: ask for another one");
  std::uint32_t used = 0;
  for (const auto& [serial, member] : pass.members) {
    if (invitation_of(serial) != invitation.serial) continue;
    if (pass.revocations.names(serial) && member.peer == who.peer)
      return fail(Kind::invalid, "the membership that came of this invitation was revoked: ask for another one");
    if (member.peer == who.peer) return make_membership(key_of(pass), key, serial, member.until);
    ++used;
  }
  if (used >= invitation.uses)
    return fail(Kind::invalid, "the invitation is used up: it was good for {}, and so many have come with it; ask for another one",
                invitation.uses);
  if (pass.members.size() >= GridPass::kMaxMembers)
    return fail(Kind::invalid, "this holder has let in {} members, which is its limit", pass.members.size());
  const std::uint64_t serial = fresh_member(pass, invitation.serial, rng);
  const std::uint64_t until = end_of(now, kMembershipLasts);
  pass.members[serial] = {who.peer, who.name, until};
  return make_membership(key_of(pass), key, serial, until);
}

Result<Revocations> revoke(const GridPass& pass, const std::vector<std::uint64_t>& serials) {
  if (!pass.secret) return no_key(pass);
  std::vector<std::uint64_t> all = pass.revocations.serials;
  all.insert(all.end(), serials.begin(), serials.end());
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  if (all.size() > Revocations::kMost)
    return fail(Kind::overloaded, "{} serials are revoked, which is the most that a grid can have: make a new grid",
                pass.revocations.serials.size());
  return make_revocations(key_of(pass), pass.revocations.version + 1, std::move(all));
}

std::optional<Revocations> merge(const GridPass& pass, const Revocations& heard) {
  const Revocations& mine = pass.revocations;
  if (heard == mine) return std::nullopt;
  const bool newer = heard.version > mine.version || (heard.version == mine.version && heard.signature > mine.signature);
  if (!pass.secret) return newer ? std::optional(heard) : std::nullopt;
  if (newer && std::ranges::includes(heard.serials, mine.serials)) return heard;
  if (!newer && std::ranges::includes(mine.serials, heard.serials)) return std::nullopt;
  GridPass joint = pass;
  joint.revocations.version = std::max(mine.version, heard.version);
  auto both = revoke(joint, heard.serials);
  return both ? std::optional(*std::move(both)) : std::nullopt;
}

}  // namespace gw::peer
