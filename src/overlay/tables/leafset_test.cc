#include "overlay/tables/leafset.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "overlay/routing/key_space.h"
#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

// An id whose place is that number in the upper byte, so that a ring of 256 is easy to read.
Descriptor at(std::uint8_t place, std::uint32_t stamp = 1) {
  Descriptor peer;
  peer.id.hash.bytes[0] = place;
  peer.incarnation = {1, stamp};
  return peer;
}

std::vector<int> places(const Leafset& leafset) {
  std::vector<int> list;
  for (const Descriptor& member : leafset.members()) list.push_back(member.id.hash.bytes[0]);
  return list;
}

TEST(KeySpace, CountsDigitsAndGoesTheShorterWayRound) {
  Hash256 a;
  Hash256 b;
  EXPECT_EQ(common_digits(a, b), kDigits);
  b.bytes[3] = 0x01;
  EXPECT_EQ(common_digits(a, b), 7u);
  b.bytes[3] = 0x10;
  EXPECT_EQ(common_digits(a, b), 6u);
  EXPECT_EQ(digit(b, 6), 1u);
  const RingPosition low = position_of(at(1).id.hash);
  const RingPosition high = position_of(at(255).id.hash);
  EXPECT_EQ(distance(low, high), position_of(at(2).id.hash));
  EXPECT_EQ(clockwise(high, low), position_of(at(2).id.hash));
}

TEST(KeySpace, TheCloserOfTwoIsTheSameForAllPeers) {
  EXPECT_TRUE(is_closer(at(10).id.hash, at(12).id.hash, at(7).id.hash));
  EXPECT_TRUE(is_closer(at(0).id.hash, at(254).id.hash, at(5).id.hash));
  EXPECT_TRUE(is_closer(at(10).id.hash, at(8).id.hash, at(12).id.hash)) << "equally far: the lower id";
  EXPECT_FALSE(is_closer(at(10).id.hash, at(12).id.hash, at(8).id.hash));
  EXPECT_FALSE(is_closer(at(10).id.hash, at(8).id.hash, at(8).id.hash));
}

TEST(Leafset, KeepsTheNextOnEitherSide) {
  Leafset leafset(at(0).id, 2);
  for (const int place : {100, 50, 200, 10, 250, 20, 240, 30}) leafset.offer(at(static_cast<std::uint8_t>(place)));
  EXPECT_EQ(places(leafset), (std::vector<int>{10, 20, 240, 250}));
}

TEST(Leafset, EqualsSortingWhateverTheOrderOfOffers) {
  Rng rng(1);
  for (int turn = 0; turn < 50; ++turn) {
    const Descriptor self = at(static_cast<std::uint8_t>(rng.below(256)));
    Leafset leafset(self.id, 3);
    std::vector<int> ways;
    for (int i = 0; i < 40; ++i) {
      const Descriptor peer = at(static_cast<std::uint8_t>(rng.below(256)));
      leafset.offer(peer);
      const int way = static_cast<std::uint8_t>(peer.id.hash.bytes[0] - self.id.hash.bytes[0]);
      if (way != 0 && std::ranges::find(ways, way) == ways.end()) ways.push_back(way);
    }
    std::ranges::sort(ways);
    if (ways.size() > 6) ways.erase(ways.begin() + 3, ways.end() - 3);
    std::vector<int> found;
    for (const int place : places(leafset)) found.push_back(static_cast<std::uint8_t>(place - self.id.hash.bytes[0]));
    EXPECT_EQ(found, ways);
  }
}

TEST(Leafset, NeverHoldsItsOwner) {
  Leafset leafset(at(7).id);
  EXPECT_EQ(leafset.offer(at(7)), Leafset::Offered::ignored);
  EXPECT_TRUE(leafset.members().empty());
}

TEST(Leafset, TakesOnlyNewerDescriptorsOfAMember) {
  Leafset leafset(at(0).id);
  EXPECT_EQ(leafset.offer(at(1, 5)), Leafset::Offered::entered);
  EXPECT_EQ(leafset.offer(at(1, 4)), Leafset::Offered::ignored);
  EXPECT_EQ(leafset.offer(at(1, 5)), Leafset::Offered::ignored);
  EXPECT_EQ(leafset.offer(at(1, 6)), Leafset::Offered::renewed);
  EXPECT_EQ(leafset.find(at(1).id)->incarnation.stamp, 6u);
}

TEST(Leafset, RemovedMembersLeaveRoom) {
  Leafset leafset(at(0).id, 1);
  leafset.offer(at(10));
  leafset.offer(at(250));
  EXPECT_FALSE(leafset.wants(at(20).id, {1, 1}));
  EXPECT_TRUE(leafset.remove(at(10).id));
  EXPECT_FALSE(leafset.remove(at(10).id));
  EXPECT_EQ(leafset.offer(at(20)), Leafset::Offered::entered);
  EXPECT_EQ(places(leafset), (std::vector<int>{20, 250}));
}

TEST(Leafset, CoversWhatLiesBetweenItsEnds) {
  Leafset leafset(at(0).id, 2);
  EXPECT_TRUE(leafset.covers(at(128).id.hash)) << "alone, one answers for everything";
  for (const int place : {10, 20, 240, 250}) leafset.offer(at(static_cast<std::uint8_t>(place)));
  EXPECT_TRUE(leafset.covers(at(0).id.hash));
  EXPECT_TRUE(leafset.covers(at(20).id.hash));
  EXPECT_TRUE(leafset.covers(at(240).id.hash));
  EXPECT_FALSE(leafset.covers(at(21).id.hash));
  EXPECT_FALSE(leafset.covers(at(239).id.hash));
}

}  // namespace
}  // namespace gw::overlay
