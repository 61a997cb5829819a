#pragma once
// An invitation: a line of text with which a machine joins a private grid.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/signature.h"
#include "wire/names.h"

namespace gw::wire {

// A holder of a grid's key gives invitations to users. An invitation is signed with that key, so its receiver can check that it is whole,
// and a holder that is shown it can check that a holder made it. It names no machine: the first machines that show it are admitted.
//
// As text: "godwit:", then base 32 of version (1), grid key (32), serial (8), until (8), uses (2), role (1), name and addresses (each with
// a byte for its length, the addresses with one for their number), signature (64), and four bytes of SHA-256 over all that.
struct Invitation {
  enum class Role : std::uint8_t { member, holder };  // holder: is given the key of the grid, too

  PublicKey grid_key{};
  std::string name;          // of the grid at the holder that invites
  std::uint64_t serial = 0;  // its last 16 bits are 0; memberships made from it differ only in those bits
  std::uint64_t until = 0;   // seconds since 1970
  std::uint16_t uses = 1;    // how many machines may join with it
  Role role = Role::member;
  std::vector<std::string> addresses;  // host:port of holders, one at least
  Signature signature{};

  bool operator==(const Invitation&) const = default;
};

inline constexpr std::string_view kInvitationScheme = "godwit:";
inline constexpr std::size_t kMaxInvitationText = 1024;
inline constexpr std::size_t kMaxInvitationAddresses = 4;
inline constexpr std::size_t kMaxInvitationAddressBytes = 64;

inline bool looks_like_invitation(std::string_view text) { return text.starts_with(kInvitationScheme); }

// Fills the signature in. REQUIRES: everything else is within the limits; the key is that of the grid.
void sign(const SigningKey& grid, Invitation& invitation);
std::string text_of(const Invitation& invitation);

// The result is within the limits and signed by the key it names; whether it is still valid only a holder knows. Blanks around the text are
// ignored. Kind::invalid: not an invitation; Kind::unsupported: of a later version; Kind::corrupt: not whole, or altered.
Result<Invitation> parse_invitation(std::string_view text);

}  // namespace gw::wire
