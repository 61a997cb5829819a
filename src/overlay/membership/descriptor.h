#pragma once
// Descriptors: statements of a peer about itself, signed by it.

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/signature.h"
#include "wire/contact.h"
#include "wire/names.h"
#include "wire/overlay.pb.h"
#include "wire/signer.h"

namespace gw::overlay {

using gw::Reach;
using wire::Anchor;
using wire::Contact;
using wire::GridId;
using wire::kNever;
using wire::PeerId;
using wire::Signer;
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

// How new a descriptor is: the boot of its owner, and a counter within that boot.
struct Incarnation {
  std::uint64_t boot = 0;
  std::uint32_t stamp = 0;

  auto operator<=>(const Incarnation&) const = default;
};

// A value, kept in every table that needs it. In tables only with a signature that was checked.
struct Descriptor {
  PeerId id;  // follows from the key
  PublicKey key{};
  std::string address;  // as in Contact
  Incarnation incarnation;
  Coordinate coordinate;
  std::uint32_t slots = 0;
  std::uint32_t free_slots = 0;
  Reach reach = Reach::unknown;
  std::vector<Anchor> anchors;
  std::string name;       // of the machine, for people; empty: it has none
  std::uint16_t age = 0;  // in rounds since the owner made it, as its carriers counted them; not signed
  Signature signature{};  // over the grid and all of the above but the age
};

inline Contact contact_of(const Descriptor& peer) { return {peer.address, peer.reach, peer.anchors}; }

// Whether this peer can be dialled without the help of others.
inline bool can_be_dialled(const Descriptor& peer) {
  return !peer.address.empty() && (peer.reach == Reach::unknown || peer.reach == Reach::open);
}

inline bool newer(const Descriptor& a, const Descriptor& b) { return a.incarnation > b.incarnation; }

void sign(const GridId& grid, const Signer& signer, Descriptor& descriptor);
bool is_genuine(const GridId& grid, const Signer& signer, const Descriptor& descriptor);

// REQUIRES of both read(): from a message that was decoded. Nothing is said about the signature.
Descriptor read(const wire::pb::Descriptor& message, const Signer& signer);
Coordinate read(const wire::pb::Coordinate& message);
void write(const Descriptor& descriptor, wire::pb::Descriptor& message);
void write(const Coordinate& coordinate, wire::pb::Coordinate& message);

}  // namespace gw::overlay
