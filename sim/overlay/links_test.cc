#include "overlay/links.h"

#include <gtest/gtest.h>

namespace gw::sim::overlay_simulation {
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

TEST(Links, AHostWithManyClosesTheOneUnusedForLongest) {
  Links links(Links::kKept + 3);
  for (std::uint32_t other = 1; other <= Links::kKept; ++other) links.add(0, other, std::chrono::milliseconds(other));
  EXPECT_TRUE(links.use(0, 1, std::chrono::milliseconds(1000)));
  EXPECT_TRUE(links.add(Links::kKept + 1, 0, std::chrono::milliseconds(1001)));
  EXPECT_TRUE(links.open(0, 2)) << "used a second ago";
  EXPECT_TRUE(links.add(Links::kKept + 2, 0, Links::kSpare + std::chrono::milliseconds(2)));
  EXPECT_TRUE(links.open(0, 1));
  EXPECT_FALSE(links.open(0, 2));
  EXPECT_FALSE(links.open(2, 0));
  EXPECT_EQ(links.remove_all(0).size(), Links::kKept + 1);
}

TEST(Links, AFullHostAcceptsNoConnectionUntilOneIsSpare) {
  Links links(Links::kMost + 2);
  const Time start = std::chrono::seconds(5);
  for (std::uint32_t other = 1; other <= Links::kMost; ++other) EXPECT_TRUE(links.add(0, other, start));
  EXPECT_FALSE(links.add(Links::kMost + 1, 0, start));
  EXPECT_FALSE(links.open(Links::kMost + 1, 0));
  EXPECT_TRUE(links.add(Links::kMost + 1, 0, start + Links::kSpareInAHurry));
  EXPECT_EQ(links.remove_all(0).size(), Links::kMost);
}

}  // namespace
}  // namespace gw::sim::overlay_simulation
