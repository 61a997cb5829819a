#include "wire/messages/overlay_messages.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

#include "wire/messages/peer_messages.h"

namespace gw::wire {
namespace {

using pb::OverlayMessage;

void fill(pb::Descriptor& descriptor) {
  descriptor.set_key(std::string(32, 'k'));
  descriptor.set_address("h:1");
  descriptor.set_boot(7);
  descriptor.set_stamp(8);
  for (int i = 0; i < kCoordinateDimensions; ++i) descriptor.mutable_coordinate()->add_position(1);
  descriptor.mutable_coordinate()->set_height(2);
  descriptor.mutable_coordinate()->set_error(0.5F);
  descriptor.set_slots(4);
  descriptor.set_free_slots(3);
  descriptor.set_reach(pb::Descriptor::OPEN);
  descriptor.set_age(9);
  pb::Descriptor::Anchor& anchor = *descriptor.add_anchors();
  anchor.set_peer(std::string(32, 'a'));
  anchor.set_address("a:2");
  descriptor.mutable_membership()->set_serial(5);
  descriptor.mutable_membership()->set_until(6);
  descriptor.mutable_membership()->set_signature(std::string(64, 'm'));
  descriptor.set_signature(std::string(64, 's'));
}

OverlayMessage gossip() {
  OverlayMessage message;
  message.set_grid(std::string(32, 'g'));
  fill(*message.mutable_gossip()->mutable_self());
  return message;
}

OverlayMessage with(auto change) {
  OverlayMessage message = gossip();
  change(message);
  return message;
}

std::optional<Kind> refusal(const OverlayMessage& message) {
  const auto decoded = decode_overlay_message(encode(message).value());
  return decoded ? std::nullopt : std::optional(decoded.error().kind);
}

// Golden: what one version of godwit writes the next one must read.
TEST(OverlayMessages, HaveTheBytesOfTheirProtocol) {
  const std::string coordinate =
      "0a10"
      "0000803f0000803f0000803f0000803f"
      "1500000040"
      "1d0000003f";
  const std::string descriptor = "0a20" + hex(as_bytes(std::string(32, 'k'))) +
                                 "1203683a31"
                                 "1807"
                                 "2008"
                                 "2a1c" +
                                 coordinate +
                                 "3004"
                                 "3803"
                                 "4001"
                                 "4809"
                                 "5227"
                                 "0a20" +
                                 hex(as_bytes(std::string(32, 'a'))) +
                                 "1203613a32"
                                 "5a46"
                                 "0805"
                                 "1006"
                                 "1a40" +
                                 hex(as_bytes(std::string(64, 'm'))) + "7a40" + hex(as_bytes(std::string(64, 's')));
  EXPECT_EQ(hex(encode(gossip()).value()), "0a20" + hex(as_bytes(std::string(32, 'g'))) + "5287020a8402" + descriptor);

  OverlayMessage ping;
  ping.set_grid(std::string(32, 'g'));
  ping.mutable_ping()->set_number(5);
  OverlayMessage::Rumour& rumour = *ping.add_rumours();
  rumour.set_peer(std::string(32, 'p'));
  rumour.set_boot(1);
  rumour.set_stamp(2);
  EXPECT_EQ(hex(encode(ping).value()), "0a20" + hex(as_bytes(std::string(32, 'g'))) +
                                           "1226"
                                           "0a20" +
                                           hex(as_bytes(std::string(32, 'p'))) +
                                           "1001"
                                           "1802"
                                           "7202"
                                           "0805");
}

TEST(OverlayMessages, ComeBackAsTheyWere) {
  const auto decoded = decode_overlay_message(encode(gossip()).value());
  ASSERT_TRUE(decoded.has_value()) << decoded.error().detail;
  EXPECT_EQ(decoded->SerializeAsString(), gossip().SerializeAsString());
}

TEST(OverlayMessages, ThatBreakARuleAreRefused) {
  const auto descriptor_with = [](auto change) {
    return with([&](OverlayMessage& message) { change(*message.mutable_gossip()->mutable_self()); });
  };
  const auto coordinate_with = [&](auto change) {
    return descriptor_with([&](pb::Descriptor& descriptor) { change(*descriptor.mutable_coordinate()); });
  };
  using D = pb::Descriptor;
  using C = pb::Coordinate;
  const OverlayMessage wrong[] = {
      with([](OverlayMessage& m) { m.set_grid("short"); }),
      with([](OverlayMessage& m) { m.clear_gossip(); }),
      with([](OverlayMessage& m) { m.mutable_gossip()->clear_self(); }),
      with([](OverlayMessage& m) { m.add_rumours()->set_boot(1); }),
      with([](OverlayMessage& m) { m.mutable_pong()->set_number(1); }),
      with([](OverlayMessage& m) { m.mutable_ping_for()->set_number(1); }),
      with([](OverlayMessage& m) { m.mutable_found()->set_number(1); }),
      with([](OverlayMessage& m) { m.mutable_leave(); }),
      descriptor_with([](D& d) { d.set_key("short"); }),
      descriptor_with([](D& d) { d.set_signature("short"); }),
      descriptor_with([](D& d) { d.set_boot(0); }),
      descriptor_with([](D& d) { d.set_free_slots(5); }),
      descriptor_with([](D& d) { d.set_reach(static_cast<D::Reach>(9)); }),
      descriptor_with([](D& d) { d.mutable_anchors(0)->set_peer("short"); }),
      descriptor_with([](D& d) { d.mutable_anchors(0)->clear_address(); }),
      descriptor_with([](D& d) { d.set_name("two\nlines"); }),
      descriptor_with([](D& d) { d.set_name(std::string(33, 'a')); }),
      descriptor_with([](D& d) { d.mutable_anchors(0)->set_address(std::string(63, 'a') + ":1"); }),
      descriptor_with([](D& d) {
        for (int i = 0; i < kMaxAnchors; ++i) *d.add_anchors() = d.anchors(0);
      }),
      descriptor_with([](D& d) { d.mutable_membership()->set_serial(0); }),
      descriptor_with([](D& d) { d.mutable_membership()->set_signature("short"); }),
      coordinate_with([](C& c) { c.add_position(0); }),
      coordinate_with([](C& c) { c.set_position(3, std::numeric_limits<float>::quiet_NaN()); }),
      coordinate_with([](C& c) { c.set_position(3, -10.5F); }),
      coordinate_with([](C& c) { c.set_height(-1); }),
      coordinate_with([](C& c) { c.set_error(std::numeric_limits<float>::infinity()); }),
      coordinate_with([](C& c) { c.set_adjustment(11); }),
  };
  for (const OverlayMessage& message : wrong) EXPECT_EQ(refusal(message), Kind::invalid) << message.ByteSizeLong();
  EXPECT_FALSE(decode_overlay_message(as_bytes("\xff\xff\xff")).has_value());
}

TEST(OverlayMessages, AnAddressIsAHostAndAPort) {
  const auto at = [](const std::string& address) {
    return refusal(with([&](OverlayMessage& m) { m.mutable_gossip()->mutable_self()->set_address(address); }));
  };
  for (const char* good : {"", "10.0.0.1:4000", "[::1]:65535", "name.example:1"}) EXPECT_EQ(at(good), std::nullopt) << good;
  for (const char* bad : {"host", "host:", ":80", "host:0", "host:65536", "host:8x", "ho st:80", "h\n:80", "host:-1"})
    EXPECT_EQ(at(bad), Kind::invalid) << bad;
  EXPECT_EQ(at(std::string(kMaxAddressBytes - 1, 'a') + ":1"), Kind::invalid);
}

TEST(OverlayMessages, ListsAreBounded) {
  OverlayMessage message = gossip();
  for (int i = 0; i < kMaxDescriptors; ++i) fill(*message.mutable_gossip()->add_others());
  EXPECT_EQ(refusal(message), std::nullopt);
  fill(*message.mutable_gossip()->add_others());
  EXPECT_EQ(refusal(message), Kind::invalid);

  message = gossip();
  for (int i = 0; i <= kMaxRumours; ++i) {
    EXPECT_EQ(refusal(message), std::nullopt);
    message.add_rumours()->set_peer(std::string(32, 'p'));
    message.mutable_rumours(i)->set_boot(1);
  }
  EXPECT_EQ(refusal(message), Kind::invalid);

  message = gossip();
  message.mutable_route()->set_key(std::string(32, 'k'));
  fill(*message.mutable_route()->mutable_origin());
  message.mutable_route()->set_hops(kMaxHops);
  EXPECT_EQ(refusal(message), std::nullopt);
  message.mutable_route()->set_hops(kMaxHops + 1);
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(OverlayMessages, TooLongOnesAreNotMade) {
  OverlayMessage message = gossip();
  message.mutable_gossip()->mutable_self()->set_address(std::string(kMaxOverlayMessageBytes, 'x'));
  EXPECT_EQ(encode(message).error().kind, Kind::overloaded);
}

}  // namespace
}  // namespace gw::wire
