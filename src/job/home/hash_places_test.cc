#include "job/home/hash_places.h"

#include <gtest/gtest.h>

#include "job/test/signers.h"

namespace gw::job {
namespace hash_places_test {

using test::id_of;

class PlacedByHash : public testing::Test {
 protected:
  static Hash256 manifest(std::string_view text = "a manifest") { return sha256(as_bytes(text)); }
  // Looks one slot up, and finds that peer.
  void locate(std::uint8_t peer) {
    const auto lookups = places_.next_lookups(1);
    ASSERT_EQ(lookups.size(), 1u);
    places_.on_located(now_, lookups[0].slot, id_of(peer), true);
  }

  Time now_{std::chrono::seconds(5)};
  HashPlaces places_{{}, manifest(), 4};
};

TEST_F(PlacedByHash, EachSlotHasAKeyOfItsOwnThatFollowsFromTheManifest) {
  const auto lookups = places_.next_lookups(4);
  std::set<Hash256> keys;
  for (const auto& lookup : lookups) keys.insert(lookup.key);
  EXPECT_EQ(keys.size(), 4u);
  HashPlaces same({}, manifest(), 4), other({}, manifest("another"), 4);
  EXPECT_EQ(same.next_lookups(1)[0].key, lookups[0].key);
  EXPECT_NE(other.next_lookups(1)[0].key, lookups[0].key);
  EXPECT_TRUE(places_.next_lookups(4).empty()) << "all of them are under way";
}

TEST_F(PlacedByHash, APeerIsAskedForAllSlotsWhoseKeysLeadToIt) {
  const auto lookups = places_.next_lookups(3);
  places_.on_located(now_, lookups[0].slot, id_of(1), true);
  places_.on_located(now_, lookups[1].slot, id_of(2), true);
  EXPECT_TRUE(places_.take_located(now_).empty()) << "one lookup is under way";
  places_.on_located(now_, lookups[2].slot, id_of(1), true);
  EXPECT_EQ(places_.take_located(now_), (std::map<PeerId, std::uint32_t>{{id_of(1), 2}, {id_of(2), 1}}));
  places_.on_answer(id_of(1), 2);
  places_.on_answer(id_of(2), 1);
  EXPECT_EQ(places_.pending(), 1u) << "the fourth slot";
  places_.on_lost(id_of(1));
  EXPECT_EQ(places_.pending(), 3u);
}

TEST_F(PlacedByHash, ARefusedSlotTakesAnotherSaltThreeTimes) {
  std::set<Hash256> keys;
  for (int salt = 0; salt <= 3; ++salt) {
    const auto lookups = places_.next_lookups(1);
    ASSERT_EQ(lookups.size(), 1u);
    EXPECT_EQ(lookups[0].slot, 0u);
    keys.insert(lookups[0].key);
    places_.on_located(now_, 0, id_of(1), true);
    places_.take_located(now_);
    places_.on_answer(id_of(1), 0);
  }
  EXPECT_EQ(keys.size(), 4u);
  EXPECT_EQ(places_.pending(), 3u) << "it was given up, and is searched near home";
  EXPECT_EQ(places_.next_lookups(1)[0].slot, 1u);
}

TEST_F(PlacedByHash, ASilentPeerIsARefusal) {
  locate(1);
  places_.take_located(now_);
  EXPECT_TRUE(places_.waits_for_answers());
  places_.give_up_silent();
  EXPECT_FALSE(places_.waits_for_answers());
  EXPECT_EQ(places_.next_lookups(1).at(0).slot, 0u) << "with another salt";
}

TEST_F(PlacedByHash, ASlotForWhichTheGridHasNoRoomIsGivenUp) {
  places_.on_located(now_, places_.next_lookups(1).at(0).slot, std::nullopt, false);
  EXPECT_EQ(places_.pending(), 3u);
}

TEST_F(PlacedByHash, ASlowLookupDoesNotDelayTheOthersForLong) {
  const auto lookups = places_.next_lookups(2);
  places_.on_located(now_, lookups[0].slot, id_of(1), true);
  EXPECT_TRUE(places_.take_located(now_).empty());
  EXPECT_EQ(places_.take_located(now_ + std::chrono::milliseconds(300)).size(), 1u);
}

TEST_F(PlacedByHash, LooksUpABoundedNumberOfSlotsAtOnce) {
  HashPlaces many({.at_once = 8}, manifest(), 1000);
  EXPECT_EQ(many.next_lookups(1000).size(), 8u);
  EXPECT_TRUE(many.next_lookups(1000).empty());
}

}  // namespace hash_places_test
}  // namespace gw::job
