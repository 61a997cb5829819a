#include "overlay/heard.h"

#include <gtest/gtest.h>

#include "overlay/test_peers.h"

namespace gw::overlay {
namespace {

using std::chrono::seconds;

TEST(Heard, KnowsWhoHasBeenSilentSince) {
  Heard heard({});
  EXPECT_TRUE(heard.on_heard(seconds(1), test_id(1)));
  EXPECT_TRUE(heard.on_heard(seconds(2), test_id(2)));
  EXPECT_TRUE(heard.on_heard(seconds(3), test_id(3)));
  EXPECT_FALSE(heard.on_heard(seconds(4), test_id(1)));
  EXPECT_EQ(heard.silent_since(seconds(3)), std::vector<PeerId>{test_id(2)});
  EXPECT_TRUE(heard.forget(test_id(2)));
  EXPECT_TRUE(heard.silent_since(seconds(3)).empty());
  EXPECT_EQ(heard.last(test_id(2)), kNever);
}

TEST(Heard, ForgetsWhoWasSilentLongestWhenFull) {
  Heard heard({.peers = 2});
  for (const std::uint64_t number : {1, 2, 3}) heard.on_heard(seconds(number), test_id(number));
  EXPECT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard.last(test_id(1)), kNever);
  EXPECT_EQ(heard.last(test_id(3)), Time(seconds(3)));
}

}  // namespace
}  // namespace gw::overlay
