#include "overlay/membership/descriptor.h"

#include <gtest/gtest.h>

#include <functional>

#include "overlay/test/test_peers.h"
#include "wire/messages/overlay_messages.h"

namespace gw::overlay {
namespace {

Descriptor full() {
  Descriptor descriptor = test_peer(1);
  descriptor.coordinate = {.position = {1, -2, 0.5F, -0.0F}, .height = 0.25F, .error = 0.125F, .adjustment = -0.5F};
  descriptor.slots = 8;
  descriptor.free_slots = 3;
  descriptor.reach = Reach::outbound;
  descriptor.anchors = {{test_id(2), "192.0.2.1:1"}, {test_id(3), "[2001:db8::1]:2"}};
  descriptor.name = "lab-3";
  descriptor.age = 7;
  sign(GridId{}, TestSigner(descriptor.key), descriptor);
  return descriptor;
}

TEST(Descriptor, SurvivesItsMessage) {
  wire::pb::Descriptor message;
  write(full(), message);
  wire::pb::Descriptor parsed;
  ASSERT_TRUE(parsed.ParseFromString(message.SerializeAsString()));
  const Descriptor back = read(parsed, TestSigner());
  EXPECT_EQ(back.id, full().id);
  EXPECT_EQ(back.address, full().address);
  EXPECT_EQ(back.incarnation, full().incarnation);
  EXPECT_EQ(back.coordinate, full().coordinate);
  EXPECT_EQ(back.slots, full().slots);
  EXPECT_EQ(back.free_slots, full().free_slots);
  EXPECT_EQ(back.reach, full().reach);
  EXPECT_EQ(back.anchors, full().anchors);
  EXPECT_EQ(back.name, "lab-3");
  EXPECT_EQ(back.age, full().age);
  EXPECT_TRUE(is_genuine(GridId{}, TestSigner(), back));
}

TEST(Descriptor, IsAcceptedByTheDecoder) {
  Message message;
  message.set_grid(GridId{}.bytes());
  write(full(), *message.mutable_gossip()->mutable_self());
  EXPECT_TRUE(wire::check(message).has_value()) << wire::check(message).error().detail;
}

TEST(Descriptor, IsNotGenuineOnceChanged) {
  const std::function<void(Descriptor&)> changes[] = {
      [](Descriptor& d) { d.key[0] ^= 1; },
      [](Descriptor& d) { d.address = "elsewhere:1"; },
      [](Descriptor& d) { ++d.incarnation.boot; },
      [](Descriptor& d) { ++d.incarnation.stamp; },
      [](Descriptor& d) { d.coordinate.position[2] += 1; },
      [](Descriptor& d) { d.coordinate.height += 1; },
      [](Descriptor& d) { d.coordinate.error += 1; },
      [](Descriptor& d) { d.coordinate.adjustment += 1; },
      [](Descriptor& d) { ++d.slots; },
      [](Descriptor& d) { ++d.free_slots; },
      [](Descriptor& d) { d.reach = Reach::open; },
      [](Descriptor& d) { d.anchors.pop_back(); },
      [](Descriptor& d) { d.anchors[1].peer.hash.bytes[0] ^= 1; },
      [](Descriptor& d) { d.anchors[1].address = "192.0.2.1:2"; },
      [](Descriptor& d) { d.name = "lab-4"; },
      [](Descriptor& d) { d.signature[0] ^= 1; },
  };
  for (const auto& change : changes) {
    Descriptor forged = full();
    change(forged);
    EXPECT_FALSE(is_genuine(GridId{}, TestSigner(), forged)) << &change - changes;
  }
  GridId other;
  other.hash.bytes[0] = 1;
  EXPECT_FALSE(is_genuine(other, TestSigner(), full())) << "another grid";
  Descriptor carried = full();
  ++carried.age;
  EXPECT_TRUE(is_genuine(GridId{}, TestSigner(), carried)) << "its carriers count its age";
}

TEST(Descriptor, IsNewerInALaterLifeWhateverItsStamp) {
  Descriptor early = test_peer(1, 9);
  Descriptor late = test_peer(1, 2);
  EXPECT_TRUE(newer(early, late));
  late.incarnation.boot = 2;
  EXPECT_TRUE(newer(late, early));
  EXPECT_FALSE(newer(early, early));
}

}  // namespace
}  // namespace gw::overlay
