#include "node/discovery/lan_beacon.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

TEST(LanBeacon, ComesBackAndNothingElseDoes) {
  const peer::GridCredentials open = peer::GridCredentials::open("lab");
  const LanBeacon beacon{.port = 7400, .number = 5, .tags = {tag_of(open, 5)}};
  const Bytes bytes = beacon.encode();
  EXPECT_EQ(LanBeacon::decode(bytes).value(), beacon);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(LanBeacon::decode(ByteView(bytes).first(size))) << size;
  Bytes longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(LanBeacon::decode(longer));
  LanBeacon nowhere = beacon;
  nowhere.port = 0;
  EXPECT_FALSE(LanBeacon::decode(nowhere.encode()));
}

TEST(LanBeacon, OnlyMembersRecogniseAPrivateGrid) {
  peer::GridCredentials grid = peer::GridCredentials::open("lab");
  grid.key = PublicKey{1, 2, 3};
  peer::GridCredentials knows_only_the_id = peer::GridCredentials::open("lab");
  EXPECT_EQ(knows_only_the_id.id, grid.id);
  EXPECT_NE(tag_of(grid, 5), tag_of(knows_only_the_id, 5));
  EXPECT_NE(tag_of(grid, 5), tag_of(grid, 6)) << "it cannot be followed from one to the next";
}

}  // namespace
}  // namespace gw::node
