#include "wire/messages/overlay_messages.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "wire/machine_name.h"
#include "wire/messages/peer_messages.h"
#include "wire/messages/rules.h"

namespace gw::wire {
namespace {

using pb::OverlayMessage;

constexpr std::size_t kSignatureBytes = 64;
constexpr float kMaxError = 10;

bool within(float value, float low, float high) { return std::isfinite(value) && value >= low && value <= high; }

Status check(const pb::Coordinate& coordinate) {
  const auto bounded = [](float value) { return within(value, -kMaxCoordinateSeconds, kMaxCoordinateSeconds); };
  GW_TRY_VOID(require(coordinate.position_size() == kCoordinateDimensions, "a coordinate has 4 dimensions"));
  GW_TRY_VOID(require(std::ranges::all_of(coordinate.position(), bounded), "a coordinate is within 10 s of the origin"));
  GW_TRY_VOID(require(within(coordinate.height(), 0, kMaxCoordinateSeconds), "a height is from 0 to 10 s"));
  GW_TRY_VOID(require(within(coordinate.error(), 0, kMaxError), "the error of a coordinate is from 0 to 10"));
  return require(bounded(coordinate.adjustment()), "an adjustment is at most 10 s");
}

Status check(const pb::Descriptor::Anchor& anchor) {
  GW_TRY_VOID(require(is_hash(anchor.peer()), "an anchor is named by 32 bytes"));
  return require(anchor.address().size() <= kMaxAnchorAddressBytes && is_address(anchor.address()),
                 "the address of an anchor is host:port, of at most 64 bytes");
}

Status check(const OverlayMessage::Gossip& gossip) {
  GW_TRY_VOID(require(gossip.others_size() <= kMaxDescriptors, "a message has at most 64 descriptors"));
  GW_TRY_VOID(wire::check(gossip.self()));
  for (const pb::Descriptor& descriptor : gossip.others()) GW_TRY_VOID(wire::check(descriptor));
  return ok();
}

enum class Of : std::uint8_t { ping, pong };

Status check(const OverlayMessage::Ping& ping, Of kind) {
  GW_TRY_VOID(require(kind == Of::ping || ping.has_coordinate(), "a pong has a coordinate"));
  if (ping.has_coordinate()) GW_TRY_VOID(check(ping.coordinate()));
  return ping.has_self() ? wire::check(ping.self()) : ok();
}

Status check(const OverlayMessage::PingFor& ping_for) {
  GW_TRY_VOID(require(is_hash(ping_for.peer()), "a peer is named by 32 bytes"));
  return ping_for.has_self() ? wire::check(ping_for.self()) : ok();
}

Status check(const OverlayMessage::Route& route) {
  GW_TRY_VOID(require(is_hash(route.key()), "a key has 32 bytes"));
  GW_TRY_VOID(require(route.hops() <= kMaxHops && route.diversions() <= kMaxHops, "a request makes at most 32 hops"));
  return wire::check(route.origin());
}

Status check(const OverlayMessage::Found& found) {
  GW_TRY_VOID(require(found.hops() <= kMaxHops, "a request makes at most 32 hops"));
  GW_TRY_VOID(require(found.refused() || found.has_host(), "an answer that found a peer names it"));
  return found.has_host() ? wire::check(found.host()) : ok();
}

Status check_kind(const OverlayMessage& message) {
  switch (message.kind_case()) {
    case OverlayMessage::kGossip:
      return check(message.gossip());
    case OverlayMessage::kGossipReply:
      return check(message.gossip_reply());
    case OverlayMessage::kRing:
      return check(message.ring());
    case OverlayMessage::kRingReply:
      return check(message.ring_reply());
    case OverlayMessage::kPing:
      return check(message.ping(), Of::ping);
    case OverlayMessage::kPong:
      return check(message.pong(), Of::pong);
    case OverlayMessage::kPingFor:
      return check(message.ping_for());
    case OverlayMessage::kPongFor:
      return check(message.pong_for());
    case OverlayMessage::kRoute:
      return check(message.route());
    case OverlayMessage::kFound:
      return check(message.found());
    case OverlayMessage::kLeave:
      return require(message.leave().boot() != 0, "the lives of a peer are counted from 1");
    case OverlayMessage::KIND_NOT_SET:
      break;
  }
  return require(false, "a message has a kind");
}

}  // namespace

bool is_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (text.size() > kMaxAddressBytes || colon == std::string::npos || colon == 0) return false;
  if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; })) return false;
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data() + colon + 1, end, port);
  return problem == std::errc() && rest == end && port != 0;
}

Status check(const pb::Descriptor& descriptor) {
  GW_TRY_VOID(require(is_hash(descriptor.key()), "a public key has 32 bytes"));
  GW_TRY_VOID(require(descriptor.signature().size() == kSignatureBytes, "a signature has 64 bytes"));
  GW_TRY_VOID(require(descriptor.address().empty() || is_address(descriptor.address()), "an address is host:port, of at most 256 bytes"));
  GW_TRY_VOID(require(descriptor.boot() != 0, "the lives of a peer are counted from 1"));
  GW_TRY_VOID(require(pb::Descriptor::Reach_IsValid(descriptor.reach()), "the reach of a peer is not known"));
  GW_TRY_VOID(require(descriptor.free_slots() <= descriptor.slots(), "a peer has no more free slots than slots"));
  GW_TRY_VOID(require(descriptor.anchors_size() <= kMaxAnchors, "a peer has at most 3 anchors"));
  for (const pb::Descriptor::Anchor& anchor : descriptor.anchors()) GW_TRY_VOID(check(anchor));
  GW_TRY_VOID(require(is_machine_name(descriptor.name()), "the name of a machine has at most 32 letters, digits, dots and dashes"));
  if (descriptor.has_membership()) GW_TRY_VOID(wire::check(descriptor.membership()));
  return check(descriptor.coordinate());
}

Status check(const pb::Membership& membership) {
  GW_TRY_VOID(require(membership.serial() != 0, "memberships are counted from 1"));
  return require(membership.signature().size() == kSignatureBytes, "a membership has a signature of 64 bytes");
}

Status check(const OverlayMessage& message) {
  GW_TRY_VOID(require(is_hash(message.grid()), "a grid is named by 32 bytes"));
  GW_TRY_VOID(require(message.rumours_size() <= kMaxRumours, "a message has at most 16 rumours"));
  for (const OverlayMessage::Rumour& rumour : message.rumours())
    GW_TRY_VOID(require(is_hash(rumour.peer()) && rumour.boot() != 0, "a rumour is about one life of a peer"));
  if (message.has_proof()) {
    GW_TRY_VOID(require(is_hash(message.proof().key()), "a public key has 32 bytes"));
    GW_TRY_VOID(check(message.proof().membership()));
  }
  return check_kind(message);
}

Result<Bytes> encode(const OverlayMessage& message) {
  const std::size_t size = message.ByteSizeLong();
  if (size > kMaxOverlayMessageBytes)
    return fail(Kind::overloaded, "an overlay message of {} bytes: the limit is {}", size, kMaxOverlayMessageBytes);
  Bytes bytes(size);
  GW_ASSERT(message.SerializeToArray(bytes.data(), static_cast<int>(size)));
  return bytes;
}

Result<OverlayMessage> decode_overlay_message(ByteView payload) {
  if (payload.size() > kMaxOverlayMessageBytes) return fail(Kind::invalid, "an overlay message of {} bytes is too long", payload.size());
  OverlayMessage message;
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
    return fail(Kind::invalid, "an overlay message cannot be read");
  GW_TRY_VOID(check(message));
  return message;
}

}  // namespace gw::wire
