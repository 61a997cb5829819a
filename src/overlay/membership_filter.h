#pragma once
// Keeps a private grid to its members.

#include <optional>

#include "overlay/descriptor.h"
#include "overlay/membership.h"
#include "overlay/per_peer_rate_limit.h"

namespace gw::overlay {

// Stands between the overlay of a private grid and everybody else. Whoever sends a message has to show a membership, in this message or in
// one before; descriptors travel with the memberships of their owners, and count only with them. To a peer that has shown none go only
// messages that say no more than that this peer is here.
//
// Invariant: what passes in either direction is between members, or names nobody but this peer. Limits: those of the roll; a stranger is
// reported once in Config::report_period, and Config::reported of them. A machine without I/O or threads.
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

  // Puts on the roll whoever is shown to be a member. Kind::invalid: why the sender is not one; the message is to be dropped.
  Status on_message(Time now, const PeerId& from, const Message& message);
  // Puts its owner on the roll, if it shows a membership.
  void on_descriptor(Time now, const wire::pb::Descriptor& descriptor);
  // Whether that refusal is worth a word.
  bool to_report(Time now, const PeerId& stranger) { return strangers_.admit(now, stranger); }
  // Makes it ready to leave. False: it must not.
  bool prepare(Time now, const PeerId& to, Message& message) const;

  bool admits(Time now, const PeerId& peer) const { return known_members_.has(wall(now), peer); }
  const KnownMembers& known_members() const { return known_members_; }
  // Returns who is a member no more. REQUIRES: checked.
  std::vector<PeerId> revoke(Revocations list) { return known_members_.revoke(std::move(list)); }

 private:
  WallSeconds wall(Time now) const { return std::chrono::duration_cast<WallSeconds>(now + config_.wall_offset); }
  void add_membership(wire::pb::Descriptor& descriptor) const;

  const Config config_;
  const PublicKey own_key_;
  const Signer& signer_;
  KnownMembers known_members_;
  PerPeerRateLimit strangers_;
};

}  // namespace gw::overlay
