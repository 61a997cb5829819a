#include "overlay/tables/neighbours.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "overlay/distance/ranging.h"
#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Descriptor with_known_coordinate(std::uint64_t number, std::uint32_t stamp = 1) {
  Descriptor peer = test_peer(number, stamp);
  peer.coordinate.error = 0.1F;
  return peer;
}

class NeighboursTest : public ::testing::Test {
 protected:
  // A peer whose coordinate gives its true distance.
  void meet(std::uint64_t number, Time distance) {
    neighbours_.offer(with_known_coordinate(number), distance);
    neighbours_.on_range(test_id(number), distance);
  }

  Rng rng_{1};
  Neighbours neighbours_{{}, test_id(0), rng_};
};

TEST_F(NeighboursTest, TheNearestStay) {
  for (std::uint64_t i = 50; i > 0; --i) meet(i, milliseconds(i));
  ASSERT_EQ(neighbours_.near().size(), 14u);
  for (std::size_t i = 0; i < 14; ++i) EXPECT_EQ(neighbours_.near()[i].distance, milliseconds(i + 1));
}

TEST_F(NeighboursTest, APeerThatOnlyClaimsToBeNearIsDropped) {
  for (std::uint64_t i = 1; i <= 14; ++i) meet(i, milliseconds(10 + i));
  neighbours_.offer(with_known_coordinate(99), milliseconds(1));
  EXPECT_NE(neighbours_.find(test_id(99)), nullptr);
  EXPECT_EQ(neighbours_.next_to_measure(), test_id(99));
  neighbours_.on_range(test_id(99), milliseconds(80));
  EXPECT_EQ(neighbours_.find(test_id(99)), nullptr);
  EXPECT_EQ(neighbours_.near().size(), 14u);
}

TEST_F(NeighboursTest, ACandidateThatDoesNotAnswerIsDropped) {
  neighbours_.offer(with_known_coordinate(1), milliseconds(1));
  EXPECT_EQ(neighbours_.next_to_measure(), test_id(1));
  EXPECT_EQ(neighbours_.next_to_measure(), std::nullopt);
  EXPECT_EQ(neighbours_.find(test_id(1)), nullptr);
}

TEST_F(NeighboursTest, CandidatesAreFewAndSureOfTheirPlace) {
  EXPECT_FALSE(neighbours_.wants(test_peer(1), milliseconds(1))) << "its error is 1.5";
  EXPECT_FALSE(neighbours_.wants(with_known_coordinate(0), milliseconds(1))) << "itself";
  for (std::uint64_t i = 1; i <= 10; ++i) neighbours_.offer(with_known_coordinate(i), milliseconds(1));
  EXPECT_EQ(neighbours_.near().size(), 3u);
}

TEST_F(NeighboursTest, RandomOnesAreRedrawnSlowly) {
  for (std::uint64_t i = 1; i <= 6; ++i) {
    const Descriptor sample = with_known_coordinate(i);
    neighbours_.on_round(&sample);
    neighbours_.on_round(&sample);
  }
  ASSERT_EQ(neighbours_.random().size(), 6u);
  std::set<PeerId> before;
  for (const Descriptor& peer : neighbours_.random()) before.insert(peer.id);
  EXPECT_EQ(before.size(), 6u);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Descriptor sample = with_known_coordinate(100 + i);
    neighbours_.on_round(&sample);
  }
  std::size_t stayed = 0;
  for (const Descriptor& peer : neighbours_.random()) stayed += before.count(peer.id);
  EXPECT_EQ(stayed, 5u);
}

TEST_F(NeighboursTest, AllAreMeasuredInTurnAndKeptUpToDate) {
  for (std::uint64_t i = 1; i <= 3; ++i) meet(i, milliseconds(i));
  const Descriptor sample = with_known_coordinate(4);
  neighbours_.on_round(&sample);
  std::set<PeerId> measured;
  for (int i = 0; i < 4; ++i) measured.insert(*neighbours_.next_to_measure());
  EXPECT_EQ(measured.size(), 4u);
  neighbours_.offer(with_known_coordinate(2, 7), milliseconds(2));
  EXPECT_EQ(neighbours_.find(test_id(2))->incarnation.stamp, 7u);
  neighbours_.offer(with_known_coordinate(4, 7), seconds(2));
  EXPECT_EQ(neighbours_.find(test_id(4))->incarnation.stamp, 7u);
  neighbours_.remove(test_id(2));
  neighbours_.remove(test_id(4));
  EXPECT_EQ(neighbours_.near().size() + neighbours_.random().size(), 2u);
}

class RangingTest : public ::testing::Test {
 protected:
  // Answers the last ping after so long.
  void answer(Time delay, std::uint64_t wrong = 0) {
    now_ += delay;
    Message::Ping pong;
    pong.set_number(out_.sends.back().message.ping().number() + wrong);
    write(Coordinate{.height = 0.5F}, *pong.mutable_coordinate());
    ranging_.on_pong(now_, test_id(1), pong, out_);
  }

  Time now_ = seconds(1);
  Output out_;
  Rng rng_{1};
  Ranging ranging_{{}, rng_};
};

TEST_F(RangingTest, TheShortestPingCountsTheFirstDoesNot) {
  ranging_.measure(now_, test_id(1), out_);
  for (const int delay : {5, 40, 30}) answer(milliseconds(delay));
  EXPECT_TRUE(ranging_.take().empty());
  answer(milliseconds(50));
  const std::vector<Ranging::Range> ranges = ranging_.take();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].peer, test_id(1));
  EXPECT_EQ(ranges[0].round_trip, milliseconds(30));
  EXPECT_EQ(ranges[0].coordinate.height, 0.5F);
  EXPECT_EQ(out_.sends.size(), 4u);
  EXPECT_EQ(ranging_.size(), 0u);
}

TEST_F(RangingTest, AnAnswerWithAWrongNumberIsIgnored) {
  ranging_.measure(now_, test_id(1), out_);
  answer(milliseconds(1), 1);
  EXPECT_EQ(out_.sends.size(), 1u);
}

TEST_F(RangingTest, SomeAnswersAreBetterThanNone) {
  ranging_.measure(now_, test_id(1), out_);
  answer(milliseconds(10));
  answer(milliseconds(20));
  EXPECT_EQ(ranging_.next_deadline(), now_ + seconds(3));
  ranging_.on_tick(now_ + seconds(3));
  ASSERT_EQ(ranging_.size(), 0u);
  EXPECT_EQ(ranging_.take().at(0).round_trip, milliseconds(20));

  ranging_.measure(now_, test_id(1), out_);
  ranging_.on_tick(now_ + seconds(3));
  EXPECT_TRUE(ranging_.take().empty());
}

TEST_F(RangingTest, IsBounded) {
  for (std::uint64_t i = 1; i <= 20; ++i) ranging_.measure(now_, test_id(i), out_);
  ranging_.measure(now_, test_id(1), out_);
  EXPECT_EQ(ranging_.size(), 6u);
  EXPECT_EQ(out_.sends.size(), 6u);
  ranging_.on_unreachable(test_id(2));
  EXPECT_EQ(ranging_.size(), 5u);
}

}  // namespace
}  // namespace gw::overlay
