#pragma once
// Credentials of a peer in a grid.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "overlay/membership/membership.h"
#include "wire/invitation.h"
#include "wire/records.pb.h"

namespace gw::peer {

using overlay::GridId;
using overlay::PeerId;

// A grid as a member stores it: for an open grid the name, for a private one the membership, and at a holder the key and the members it has
// admitted. A value. Limits: kMaxInvitations that are still valid, kMaxMembers.
struct GridCredentials {
  static constexpr std::size_t kMaxInvitations = 256;
  static constexpr std::size_t kMaxMembers = 4096;
  using Secret = std::array<std::uint8_t, 32>;
  struct IssuedInvitation {  // an invitation, made here
    std::uint64_t until = 0;
    std::uint16_t uses = 0;
    wire::Invitation::Role role = wire::Invitation::Role::member;
  };
  struct Member {  // admitted here
    PeerId peer;
    std::string name;
    std::uint64_t until = 0;
  };

  GridId id;
  std::string name;  // on this machine; unique
  std::uint64_t order = 0;
  std::optional<PublicKey> key = {};  // of a private grid, as is the rest
  overlay::Membership membership = {};
  std::optional<Secret> secret = {};  // at a holder
  overlay::Revocations revocations = {};
  std::vector<std::string> addresses = {};
  std::map<std::uint64_t, IssuedInvitation> invitations = {};  // by serial
  std::map<std::uint64_t, Member> members = {};

  static GridCredentials open(std::string name);
  bool is_private() const { return key.has_value(); }
  // This peer's membership was revoked.
  bool revoked() const { return is_private() && revocations.names(membership.serial); }

  wire::pb::GridRecord record() const;
  // Kind::corrupt.
  static Result<GridCredentials> read(const wire::pb::GridRecord& record);
};

}  // namespace gw::peer
