#include "overlay/failures/last_seen.h"

#include <gtest/gtest.h>

#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

using std::chrono::seconds;

TEST(LastSeen, KnowsWhoHasBeenSilentSince) {
  LastSeen last_seen({});
  EXPECT_TRUE(last_seen.on_seen(seconds(1), test_id(1)));
  EXPECT_TRUE(last_seen.on_seen(seconds(2), test_id(2)));
  EXPECT_TRUE(last_seen.on_seen(seconds(3), test_id(3)));
  EXPECT_FALSE(last_seen.on_seen(seconds(4), test_id(1)));
  EXPECT_EQ(last_seen.silent_since(seconds(3)), std::vector<PeerId>{test_id(2)});
  EXPECT_TRUE(last_seen.forget(test_id(2)));
  EXPECT_TRUE(last_seen.silent_since(seconds(3)).empty());
  EXPECT_EQ(last_seen.last(test_id(2)), kNever);
}

TEST(LastSeen, ForgetsWhoWasSilentLongestWhenFull) {
  LastSeen last_seen({.peers = 2});
  for (const std::uint64_t number : {1, 2, 3}) last_seen.on_seen(seconds(number), test_id(number));
  EXPECT_EQ(last_seen.size(), 2u);
  EXPECT_EQ(last_seen.last(test_id(1)), kNever);
  EXPECT_EQ(last_seen.last(test_id(3)), Time(seconds(3)));
}

}  // namespace
}  // namespace gw::overlay
