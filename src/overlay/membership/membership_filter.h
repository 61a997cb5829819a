#pragma once
// Keeps a private grid to its members.

#include <optional>

#include "overlay/membership/descriptor.h"
#include "overlay/membership/membership.h"
#include "overlay/per_peer_rate_limit.h"

namespace gw::overlay {

// Stands between the overlay of a private grid and all other peers. The sender of a message has to show a membership, in this message or in
// an earlier one; descriptors travel with the memberships of their owners, and count only with them. A peer that has shown none is sent
// only messages that reveal no more than the presence of this peer.
//
// Invariant: a message that passes in either direction is between members, or names only this peer. Limits: those of KnownMembers; a
// stranger is reported once per Config::report_period, and at most Config::reported of them. A machine without I/O or threads.
class MembershipFilter {
 public:
  struct Config {
    PublicKey grid_key{};
    Membership own;
    Time wall_offset{0};  // from Time to nanoseconds since 1970
    KnownMembers::Config known_members{};
    Time report_period = std::chrono::minutes(10);
    std::size_t reported = 64;
  };

  MembershipFilter(const Config& config, const PublicKey& own_key, const Signer& signer);

  // Adds the peers that the message proves to be members. Kind::invalid with the reason if the sender is not one; then drop the message.
  Status on_message(Time now, const PeerId& from, const Message& message);
  // Adds the descriptor's owner, if the descriptor has a valid membership.
  void on_descriptor(Time now, const wire::pb::Descriptor& descriptor);
  // Whether to report the refusal of this peer: reports are rate-limited.
  bool to_report(Time now, const PeerId& stranger) { return strangers_.admit(now, stranger); }
  // Prepares a message for sending: adds the proof of membership, removes what the receiver may not see. False: do not send it.
  bool prepare(Time now, const PeerId& to, Message& message) const;

  // Adds the membership of the descriptor's owner, if it is known.
  void add_membership(wire::pb::Descriptor& descriptor) const;

  bool admits(Time now, const PeerId& peer) const { return known_members_.has(wall(now), peer); }
  const KnownMembers& known_members() const { return known_members_; }
  // Returns who is a member no more. REQUIRES: checked.
  std::vector<PeerId> revoke(Revocations list) { return known_members_.revoke(std::move(list)); }

 private:
  WallSeconds wall(Time now) const { return std::chrono::duration_cast<WallSeconds>(now + config_.wall_offset); }

  const Config config_;
  const PublicKey own_key_;
  const Signer& signer_;
  KnownMembers known_members_;
  PerPeerRateLimit strangers_;
};

}  // namespace gw::overlay
