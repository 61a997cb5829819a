#pragma once
// What a peer calls into its local network, and what it makes of what it hears.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "peer/grid_credentials.h"

namespace gw::node {

// "godwit 1", port, a number that is new each time, and a tag for each grid. Whoever is in a grid can make its tag out of the
// number and what only members know (the public key of a private grid, which only invitations carry), and tell whether a tag is one of its
// grids; to all others it says nothing, and it is another one each time.
struct LanBeacon {
  static constexpr std::size_t kTagBytes = 16;
  static constexpr std::size_t kMaxTags = 16;
  static constexpr std::size_t kMaxBytes = 8 + 2 + 8 + 1 + kMaxTags * kTagBytes;
  using Tag = std::array<std::uint8_t, kTagBytes>;

  std::uint16_t port = 0;
  std::uint64_t number = 0;
  std::vector<Tag> tags;

  Bytes encode() const;
  // Kind::invalid: something else is spoken on this port.
  static Result<LanBeacon> decode(ByteView bytes);

  bool operator==(const LanBeacon&) const = default;
};

LanBeacon::Tag tag_of(const peer::GridCredentials& grid, std::uint64_t number);

}  // namespace gw::node
