#include "connections.h"

#include <gtest/gtest.h>

namespace gw::sim {
namespace {

using Way = Connections::Way;

bool everybody_hears(std::size_t, std::size_t) { return true; }

TEST(Connections, NodesWithoutWallsAreDialled) {
  const Connections connections(2);
  EXPECT_EQ(connections.find_way(0, 3, {}, everybody_hears)->way, Way::dialled);
  EXPECT_FALSE(connections.find_way(0, 3, {}, [](std::size_t, std::size_t) { return false; }).has_value());
}

TEST(Connections, NodesBehindWallsAreReachedThroughAnchors) {
  Connections connections(2);
  EXPECT_FALSE(connections.find_way(3, 0, {}, everybody_hears).has_value());
  EXPECT_FALSE(connections.find_way(3, 0, {2}, everybody_hears).has_value());  // which has no connection to it
  connections.add(0, 2, {Way::dialled});
  EXPECT_EQ(connections.find_way(3, 0, {2}, everybody_hears)->way, Way::reversed);
  const auto both_walled = connections.find_way(1, 0, {2}, everybody_hears);
  ASSERT_TRUE(both_walled.has_value());
  EXPECT_EQ(both_walled->way, Way::relayed);
  EXPECT_EQ(both_walled->relay, 2u);
}

TEST(Connections, EndWithTheNodeTheyRunOver) {
  Connections connections(2);
  connections.add(0, 2, {Way::dialled});
  connections.add(0, 1, {Way::relayed, 2});
  connections.add(1, 3, {Way::dialled});
  EXPECT_EQ(connections.remove_all(2).size(), 2u);
  EXPECT_FALSE(connections.open(0, 1));
  EXPECT_TRUE(connections.open(3, 1));
}

}  // namespace
}  // namespace gw::sim
