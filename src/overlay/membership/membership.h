#pragma once
// Membership of a private grid: memberships, the list of revoked ones, and the members that are known here.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/signature.h"
#include "wire/names.h"
#include "wire/overlay.pb.h"

namespace gw::overlay {

using wire::GridId;
using wire::PeerId;
using WallSeconds = std::chrono::seconds;  // since 1970

// The tolerated difference between two clocks: a membership is accepted this long after its end.
inline constexpr WallSeconds kClockSkew = std::chrono::minutes(5);

// The statement of a grid's key about one member. Serials of members that came with the same invitation differ in their last 16 bits only.
struct Membership {
  std::uint64_t serial = 0;
  std::uint64_t until = 0;  // seconds since 1970
  Signature signature{};    // over grid, member's key, serial and until

  bool operator==(const Membership&) const = default;
};

inline constexpr std::uint64_t kMembersOfInvitation = 0xffff;
constexpr std::uint64_t invitation_of(std::uint64_t serial) { return serial & ~kMembersOfInvitation; }

Membership make_membership(const SigningKey& grid, const PublicKey& member, std::uint64_t serial, std::uint64_t until);

// REQUIRES of read(): from a message that was decoded.
Membership read(const wire::pb::Membership& message);
void write(const Membership& membership, wire::pb::Membership& message);

// Revoked serials: of memberships, or of invitations together with all memberships granted with them. The highest version is in force.
struct Revocations {
  static constexpr std::size_t kMost = 4096;

  std::uint64_t version = 0;           // 0: nothing was ever revoked, and there is no signature
  std::vector<std::uint64_t> serials;  // ascending
  Signature signature{};               // over grid, version and serials

  bool names(std::uint64_t serial) const;
  bool operator==(const Revocations&) const = default;
};

// REQUIRES: the serials are ascending, at most kMost.
Revocations make_revocations(const SigningKey& grid, std::uint64_t version, std::vector<std::uint64_t> serials);
// Kind::invalid unless the key has signed it and it keeps the rules.
Status check(const PublicKey& grid_key, const Revocations& list);

// The members of a private grid that this peer has met or heard of: each has been seen with a membership that the key of the grid signed.
// Connections prove the identity of a peer, so a membership is checked once, not with every message.
//
// Invariant: no known member is on the list of revocations. Limit: Config::members; beyond it the oldest entry is dropped, and that peer
// has to show its membership again. A value without threads; time is handed in.
class KnownMembers {
 public:
  struct Config {
    std::size_t members = 16'384;
  };

  KnownMembers(Config config, const PublicKey& grid_key) : config_(config), grid_key_(grid_key), grid_id_({sha256(grid_key)}) {}

  // Adds the peer to the known members. Kind::invalid with the reason if its membership is not valid.
  Status admit(WallSeconds now, const PeerId& peer, const PublicKey& key, const Membership& membership);
  bool has(WallSeconds now, const PeerId& peer) const;
  // The membership the peer has shown; nullptr: none.
  const Membership* find(const PeerId& peer) const;

  const Revocations& revocations() const { return revocations_; }
  // Returns the peers that are members no more. REQUIRES: checked.
  std::vector<PeerId> revoke(Revocations list);

  std::size_t size() const { return members_.size(); }

 private:
  struct Entry {
    Membership membership;
    std::uint64_t order = 0;
  };

  void make_room();

  const Config config_;
  const PublicKey grid_key_;
  const GridId grid_id_;
  Revocations revocations_;
  std::map<PeerId, Entry> members_;
  std::uint64_t next_order_ = 0;
};

}  // namespace gw::overlay
