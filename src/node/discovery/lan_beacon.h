#pragma once
// Beacons in the local network: encoding, and checking of received ones.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "peer/grid_credentials.h"

namespace gw::node {

// A beacon: "godwit 1", the port, a random number, and a tag per grid. The tag is a hash of the number and the grid's key or name. A member
// can compute the tags of its grids and so recognise them. Other machines learn nothing: a private grid's key is only in invitations, and
// the tag changes with the number.
struct LanBeacon {
  static constexpr std::size_t kTagBytes = 16;
  static constexpr std::size_t kMaxTags = 16;
  static constexpr std::size_t kMaxBytes = 8 + 2 + 8 + 1 + kMaxTags * kTagBytes;
  using Tag = std::array<std::uint8_t, kTagBytes>;

  std::uint16_t port = 0;
  std::uint64_t number = 0;
  std::vector<Tag> tags;

  Bytes encode() const;
  // Kind::invalid: the datagram is not a beacon.
  static Result<LanBeacon> decode(ByteView bytes);

  bool operator==(const LanBeacon&) const = default;
};

LanBeacon::Tag tag_of(const peer::GridCredentials& grid, std::uint64_t number);

}  // namespace gw::node
