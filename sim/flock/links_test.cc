#include "flock/links.h"

#include <gtest/gtest.h>

namespace gw::sim::flock {
namespace {

TEST(Links, AreKnownAtBothEnds) {
  Links links(3);
  links.add(0, 1, Time(1));
  EXPECT_TRUE(links.use(1, 0, Time(2)));
  EXPECT_FALSE(links.use(0, 2, Time(2)));
  links.remove(1, 0);
  EXPECT_FALSE(links.open(0, 1));
  EXPECT_FALSE(links.open(1, 0));
}

TEST(Links, AHostWithTooManyClosesTheOneUnusedForLongest) {
  Links links(Links::kMostOfAHost + 3);
  for (std::uint32_t other = 1; other <= Links::kMostOfAHost; ++other) links.add(0, other, std::chrono::milliseconds(other));
  EXPECT_TRUE(links.use(1, 0, std::chrono::milliseconds(1000)));
  links.add(Links::kMostOfAHost + 1, 0, std::chrono::milliseconds(1001));
  EXPECT_TRUE(links.open(0, 1));
  EXPECT_FALSE(links.open(0, 2));
  EXPECT_FALSE(links.open(2, 0));
  EXPECT_EQ(links.remove_all(0).size(), Links::kMostOfAHost);
}

}  // namespace
}  // namespace gw::sim::flock
