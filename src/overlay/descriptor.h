#pragma once
// What a peer says about itself, signed by it.

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/signature.h"
#include "wire/names.h"
#include "wire/overlay.pb.h"

namespace gw::overlay {

using wire::GridId;
using wire::kNever;
using wire::PeerId;
using wire::Time;
using Message = wire::pb::OverlayMessage;

// Where a peer is in the space of round-trip times; coordinates.h says how it gets there. Seconds.
struct Coordinate {
  static constexpr std::size_t kDimensions = 4;
  std::array<float, kDimensions> position{};
  float height = 10e-6F;
  float error = 1.5F;
  float adjustment = 0;

  auto operator<=>(const Coordinate&) const = default;
};

// How new a descriptor is: the life of its owner, and the how manieth of that life.
struct Incarnation {
  std::uint64_t boot = 0;
  std::uint32_t stamp = 0;

  auto operator<=>(const Incarnation&) const = default;
};

enum class Reach : std::uint8_t { unknown, open, outbound };

struct Descriptor {
  PeerId id;  // follows from the key
  PublicKey key{};
  std::string address;  // empty: nobody can dial it
  Incarnation incarnation;
  Coordinate coordinate;
  std::uint32_t slots = 0;
  std::uint32_t free_slots = 0;
  Reach reach = Reach::unknown;
  Signature signature{};
};

// Signs and checks. The daemon's is Ed25519; the simulator's is a hash that only the owner can make.
class Notary {
 public:
  virtual ~Notary() = default;
  virtual PeerId id_of(const PublicKey& key) const = 0;
  virtual Signature sign(ByteView text) const = 0;
  virtual bool is_signed(const PublicKey& key, ByteView text, const Signature& signature) const = 0;
};

}  // namespace gw::overlay
