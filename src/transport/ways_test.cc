#include "transport/ways.h"

#include <gtest/gtest.h>

namespace gw::transport {
namespace {

using std::chrono::milliseconds;

struct Row {
  std::string_view what;
  Situation situation;
  std::vector<Step> expected;
};

const Step kDirectNow{Way::direct, milliseconds(0)}, kReverseNow{Way::reverse, milliseconds(0)}, kRelayedNow{Way::relayed, milliseconds(0)};

TEST(Ways, FollowTheTable) {
  const auto with = [](Reach mine, Reach theirs) {
    return Situation{.mine = mine, .theirs = theirs, .has_address = true, .has_anchors = true, .own_anchors = true};
  };
  const Row rows[] = {
      {"open to open", {.mine = Reach::open, .theirs = Reach::open, .has_address = true}, {kDirectNow}},
      {"outbound to open",
       {.mine = Reach::outbound, .theirs = Reach::open, .has_address = true, .own_anchors = true},
       {kDirectNow, {Way::relayed, milliseconds(1'500)}}},
      {"open to outbound", with(Reach::open, Reach::outbound), {kReverseNow, {Way::relayed, milliseconds(1'000)}}},
      {"unknown to outbound", with(Reach::unknown, Reach::outbound), {kReverseNow, {Way::relayed, milliseconds(1'000)}}},
      {"outbound to outbound", with(Reach::outbound, Reach::outbound), {kRelayedNow}},
      {"relay_only to outbound", with(Reach::relay_only, Reach::outbound), {kRelayedNow}},
      {"open to unknown",
       with(Reach::open, Reach::unknown),
       {kDirectNow, {Way::reverse, milliseconds(300)}, {Way::relayed, milliseconds(1'500)}}},
      {"unknown without anchors", {.mine = Reach::open, .theirs = Reach::unknown, .has_address = true}, {kDirectNow}},
      {"outbound to unknown", with(Reach::outbound, Reach::unknown), {kDirectNow, {Way::relayed, milliseconds(1'500)}}},
      {"open to relay_only", with(Reach::open, Reach::relay_only), {kRelayedNow}},
      {"relay_only to open", with(Reach::relay_only, Reach::open), {kRelayedNow, {Way::direct, milliseconds(1'500)}}},
      {"relay_only to open, its anchors lost", {.mine = Reach::relay_only, .theirs = Reach::open, .has_address = true}, {kDirectNow}},
      {"nobody knows where", {.mine = Reach::open, .theirs = Reach::outbound, .has_address = true}, {}},
      {"nothing at all", {}, {}},
  };
  for (const Row& row : rows) EXPECT_EQ(plan_ways(row.situation), row.expected) << row.what;
}

TEST(Ways, TheWayThatWorkedLastIsTriedFirst) {
  Situation situation{.mine = Reach::open, .theirs = Reach::unknown, .has_address = true, .has_anchors = true, .worked = Way::relayed};
  EXPECT_EQ(plan_ways(situation),
            (std::vector<Step>{kRelayedNow, {Way::direct, milliseconds(1'500)}, {Way::reverse, milliseconds(1'500)}}));
  situation.worked = Way::direct;
  EXPECT_EQ(plan_ways(situation).front(), kDirectNow);
  EXPECT_EQ(plan_ways(situation)[1].after, milliseconds(300)) << "it was the first one anyway";
  situation.has_address = false;
  EXPECT_EQ(plan_ways(situation).front(), kReverseNow) << "what cannot work any more is not tried";
}

TEST(Ways, AnUpgradeNeverUsesARelay) {
  const Situation hidden{.mine = Reach::open, .theirs = Reach::outbound, .has_address = true, .has_anchors = true};
  EXPECT_EQ(plan_upgrade(hidden), (std::vector<Step>{kDirectNow, kReverseNow})) << "it may be in our network";
  EXPECT_EQ(plan_upgrade({.mine = Reach::outbound, .theirs = Reach::outbound, .has_anchors = true}), std::vector<Step>{});
  EXPECT_EQ(plan_upgrade({.mine = Reach::outbound, .theirs = Reach::open, .has_address = true}), std::vector{kDirectNow});
}

TEST(Ways, OnlyARelayIsWorse) {
  EXPECT_TRUE(is_better(Way::direct, Way::relayed));
  EXPECT_TRUE(is_better(Way::reverse, Way::relayed));
  EXPECT_FALSE(is_better(Way::direct, Way::reverse)) << "both are one connection";
  EXPECT_FALSE(is_better(Way::relayed, Way::relayed));
}

TEST(WayMemory, ForgetsWhoWasMetLongestAgo) {
  WayMemory memory(2);
  const auto peer = [](std::uint8_t number) { return PeerId{{number}}; };
  memory.remember(peer(1), Way::direct);
  memory.remember(peer(2), Way::reverse);
  memory.remember(peer(1), Way::relayed);
  memory.remember(peer(3), Way::direct);
  EXPECT_EQ(memory.recall(peer(1)), Way::relayed);
  EXPECT_EQ(memory.recall(peer(2)), std::nullopt);
  memory.forget(peer(1));
  EXPECT_EQ(memory.recall(peer(1)), std::nullopt);
  EXPECT_EQ(memory.recall(peer(3)), Way::direct);
}

}  // namespace
}  // namespace gw::transport
