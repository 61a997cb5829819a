#include "overlay/membership/descriptor.h"

#include <algorithm>
#include <bit>

#include "wire/machine_name.h"
#include "wire/messages/overlay_messages.h"

namespace gw::overlay {
namespace {

static_assert(Coordinate::kDimensions == wire::kCoordinateDimensions);

constexpr std::string_view kPurpose = "godwit descriptor 3";  // no other text that a peer signs begins like this
constexpr std::size_t kMaxAge = 0xffff;

// Appends to a text on the stack: a descriptor is signed or checked some hundred times a minute, in a simulation a million times.
class SignedText {
 public:
  SignedText(const GridId& grid, const Descriptor& descriptor) {
    bytes(as_bytes(kPurpose));
    bytes(grid.hash.bytes);
    bytes(descriptor.key);
    number(descriptor.incarnation.boot, 8);
    number(descriptor.incarnation.stamp, 4);
    for (const float component : descriptor.coordinate.position) real(component);
    real(descriptor.coordinate.height);
    real(descriptor.coordinate.error);
    real(descriptor.coordinate.adjustment);
    number(descriptor.slots, 4);
    number(descriptor.free_slots, 4);
    number(static_cast<std::uint64_t>(descriptor.reach), 1);
    number(descriptor.anchors.size(), 1);
    for (const Anchor& anchor : descriptor.anchors) {
      bytes(anchor.peer.hash.bytes);
      number(anchor.address.size(), 1);
      bytes(as_bytes(anchor.address));
    }
    number(descriptor.name.size(), 1);
    bytes(as_bytes(descriptor.name));
    bytes(as_bytes(descriptor.address));  // last, so its length needs no mention
  }
  ByteView view() const { return {text_.data(), size_}; }

 private:
  static constexpr std::size_t kAnchors = wire::kMaxAnchors * (sizeof(Hash256) + 1 + wire::kMaxAnchorAddressBytes);
  static constexpr std::size_t kRest = 256;  // more than everything but address and anchors

  void bytes(ByteView value) {
    GW_ASSERT(size_ + value.size() <= text_.size());
    std::ranges::copy(value, text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += value.size();
  }
  void number(std::uint64_t value, std::size_t width) {
    std::array<std::uint8_t, 8> little;
    for (std::size_t i = 0; i < width; ++i) little[i] = static_cast<std::uint8_t>(value >> (8 * i));
    bytes({little.data(), width});
  }
  void real(float value) { number(std::bit_cast<std::uint32_t>(value), 4); }

  std::array<std::uint8_t, wire::kMaxAddressBytes + kAnchors + kRest> text_;
  std::size_t size_ = 0;
};

template <std::size_t kSize>
std::array<std::uint8_t, kSize> array_of(const std::string& bytes) {
  std::array<std::uint8_t, kSize> array;
  GW_ASSERT(bytes.size() == kSize);
  std::ranges::copy(as_bytes(bytes), array.begin());
  return array;
}

}  // namespace

void sign(const GridId& grid, const Signer& signer, Descriptor& descriptor) {
  descriptor.signature = signer.sign(SignedText(grid, descriptor).view());
}

bool is_genuine(const GridId& grid, const Signer& signer, const Descriptor& descriptor) {
  return signer.is_signed(descriptor.key, SignedText(grid, descriptor).view(), descriptor.signature);
}

Coordinate read(const wire::pb::Coordinate& message) {
  Coordinate coordinate;
  GW_ASSERT(message.position_size() == wire::kCoordinateDimensions);
  std::ranges::copy(message.position(), coordinate.position.begin());
  coordinate.height = message.height();
  coordinate.error = message.error();
  coordinate.adjustment = message.adjustment();
  return coordinate;
}

void write(const Coordinate& coordinate, wire::pb::Coordinate& message) {
  message.mutable_position()->Assign(coordinate.position.begin(), coordinate.position.end());
  message.set_height(coordinate.height);
  message.set_error(coordinate.error);
  message.set_adjustment(coordinate.adjustment);
}

Descriptor read(const wire::pb::Descriptor& message, const Signer& signer) {
  Descriptor descriptor;
  descriptor.key = array_of<sizeof(PublicKey)>(message.key());
  descriptor.id = signer.id_of(descriptor.key);
  descriptor.address = message.address();
  descriptor.incarnation = {message.boot(), message.stamp()};
  descriptor.coordinate = read(message.coordinate());
  descriptor.slots = message.slots();
  descriptor.free_slots = message.free_slots();
  descriptor.reach = static_cast<Reach>(message.reach());
  for (const auto& anchor : message.anchors()) descriptor.anchors.push_back({PeerId::from(anchor.peer()), anchor.address()});
  descriptor.name = message.name();
  descriptor.age = static_cast<std::uint16_t>(std::min<std::size_t>(message.age(), kMaxAge));
  descriptor.signature = array_of<sizeof(Signature)>(message.signature());
  return descriptor;
}

void write(const Descriptor& descriptor, wire::pb::Descriptor& message) {
  message.set_key(descriptor.key.data(), descriptor.key.size());
  message.set_address(descriptor.address);
  message.set_boot(descriptor.incarnation.boot);
  message.set_stamp(descriptor.incarnation.stamp);
  write(descriptor.coordinate, *message.mutable_coordinate());
  message.set_slots(descriptor.slots);
  message.set_free_slots(descriptor.free_slots);
  message.set_reach(static_cast<wire::pb::Descriptor::Reach>(descriptor.reach));
  for (const Anchor& anchor : descriptor.anchors) {
    auto& written = *message.add_anchors();
    written.set_peer(anchor.peer.bytes());
    written.set_address(anchor.address);
  }
  message.set_name(descriptor.name);
  message.set_age(descriptor.age);
  message.set_signature(descriptor.signature.data(), descriptor.signature.size());
}

}  // namespace gw::overlay
