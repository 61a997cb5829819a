#pragma once
// The messages of overlay.proto as bytes, checked where they enter.

#include <cstddef>
#include <string>

#include "base/bytes.h"
#include "wire/overlay.pb.h"

namespace gw::wire {

inline constexpr std::size_t kMaxOverlayMessageBytes = 64u << 10;
inline constexpr std::size_t kMaxAddressBytes = 256;
inline constexpr int kMaxAnchors = 3;
inline constexpr std::size_t kMaxAnchorAddressBytes = 64;  // numbers, not names
inline constexpr int kCoordinateDimensions = 4;
inline constexpr float kMaxCoordinateSeconds = 10;  // of each component, of the height and the adjustment
inline constexpr int kMaxDescriptors = 64;          // in a message, the sender's own not counted
inline constexpr int kMaxRumours = 16;              // in a message
inline constexpr std::uint32_t kMaxHops = 32;

// Whether a dial could make sense of it: something printable, a colon, a port; at most kMaxAddressBytes.
bool is_address(const std::string& text);

// Kind::invalid with the rule that the message breaks. Afterwards ids and keys have 32 bytes, signatures 64, addresses are host:port or
// empty, coordinates are complete, finite and bounded, and lists are not longer than the limits above. Nothing is said about signatures.
Status check(const pb::OverlayMessage& message);
Status check(const pb::Membership& membership);
Status check(const pb::Descriptor& descriptor);

// A message that travels alone. Kind::overloaded if it would be longer than kMaxOverlayMessageBytes; Kind::invalid as in check().
Result<Bytes> encode(const pb::OverlayMessage& message);
Result<pb::OverlayMessage> decode_overlay_message(ByteView payload);

}  // namespace gw::wire
