#include "overlay/tables/peer_tables.h"

#include <gtest/gtest.h>

#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

constexpr Time kTablesTime = std::chrono::seconds(100);

class PeerTablesTest : public testing::Test {
 protected:
  std::vector<Seen> seen() const {
    std::vector<Seen> list;
    for (const Event& event : out_.events)
      if (const auto* seen = std::get_if<Seen>(&event)) list.push_back(*seen);
    return list;
  }

  Rng rng_{7};
  PeerTables tables_{{}, test_id(1), rng_};
  Output out_;
};

TEST_F(PeerTablesTest, FindsTheNewestDescriptorOfAnyTable) {
  tables_.store(kTablesTime, test_peer(2, 1), out_);
  tables_.store(kTablesTime, test_peer(2, 5), out_);
  ASSERT_NE(tables_.find(test_id(2)), nullptr);
  EXPECT_EQ(tables_.find(test_id(2))->incarnation.stamp, 5u);
  EXPECT_EQ(tables_.all(), std::vector<PeerId>{test_id(2)});
}

TEST_F(PeerTablesTest, ReportsAPeerOnceWhenItsFirstMessageArrives) {
  tables_.on_seen(kTablesTime, test_id(2), out_);
  tables_.on_seen(kTablesTime, test_id(2), out_);
  ASSERT_EQ(seen().size(), 1u);
  EXPECT_TRUE(seen().front().alive);
  EXPECT_TRUE(tables_.is_alive(test_id(2)));
}

TEST_F(PeerTablesTest, RemovesADeadPeerFromEveryTableAndReportsIt) {
  tables_.store(kTablesTime, test_peer(2), out_);
  tables_.on_seen(kTablesTime, test_id(2), out_);
  tables_.remove(test_id(2), out_);
  EXPECT_EQ(tables_.find(test_id(2)), nullptr);
  EXPECT_FALSE(tables_.is_alive(test_id(2)));
  ASSERT_EQ(seen().size(), 2u);
  EXPECT_FALSE(seen().back().alive);
}

TEST_F(PeerTablesTest, ReportsNoDeathOfAPeerThatNeverSpoke) {
  tables_.store(kTablesTime, test_peer(2), out_);
  tables_.remove(test_id(2), out_);
  EXPECT_TRUE(seen().empty());
}

// In a large grid the homes of passing searches displaced the hosts of this peer's own jobs, which were then taken for lost.
TEST_F(PeerTablesTest, APartnerThatSharesAJobStays) {
  PeerTables few({.partners = 4}, test_id(1), rng_);
  const auto partners = [&] {
    std::size_t count = 0;
    for (std::uint64_t number = 2; number < 100; ++number) count += few.find(test_id(number)) != nullptr ? 1 : 0;
    return count;
  };
  few.add_partner(test_peer(2));
  few.links.watch_peer(kTablesTime, test_id(2));
  for (std::uint64_t number = 3; number < 50; ++number) few.add_partner(test_peer(number));
  EXPECT_NE(few.find(test_id(2)), nullptr);
  EXPECT_NE(few.find(test_id(49)), nullptr) << "the others make room";
  EXPECT_EQ(partners(), 4u);
  for (std::uint64_t number = 3; number < 50; ++number)
    if (few.find(test_id(number)) != nullptr) few.links.watch_peer(kTablesTime, test_id(number));
  few.add_partner(test_peer(50));
  EXPECT_EQ(few.find(test_id(50)), nullptr);
  EXPECT_EQ(partners(), 4u);
}

TEST_F(PeerTablesTest, ItselfIsAliveAndUnknownPeersAreNot) {
  EXPECT_TRUE(tables_.is_alive(test_id(1)));
  EXPECT_FALSE(tables_.is_alive(test_id(9)));
}

}  // namespace
}  // namespace gw::overlay
