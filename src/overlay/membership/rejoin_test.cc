#include "overlay/membership/rejoin.h"

#include <gtest/gtest.h>

#include <set>

#include "overlay/failures/last_seen.h"
#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

using std::chrono::seconds;

class RejoinTest : public ::testing::Test {
 protected:
  std::set<std::string> dialled() {
    std::set<std::string> addresses;
    for (const Dial& dial : out_.dials) addresses.insert(dial.address);
    out_.dials.clear();
    return addresses;
  }

  const std::string own_ = "me:1";
  std::vector<std::string> configured_{"a:1", "b:1", "me:1"};
  Rng rng_{1};
  Output out_;
  Rejoin rejoin_{{}, own_, configured_, rng_};
};

TEST_F(RejoinTest, BeginsWithWhatItWasGivenAndRemembers) {
  rejoin_.start(seconds(1), {"old:1"}, out_);
  EXPECT_EQ(dialled(), (std::set<std::string>{"a:1", "b:1", "old:1"}));
}

TEST_F(RejoinTest, KnowsWhichConnectionItAskedFor) {
  rejoin_.start(seconds(1), {}, out_);
  EXPECT_FALSE(rejoin_.on_connected(seconds(2), "stranger:1"));
  EXPECT_TRUE(rejoin_.on_connected(seconds(2), "a:1"));
  EXPECT_FALSE(rejoin_.on_connected(seconds(2), "a:1"));
  EXPECT_FALSE(rejoin_.on_connected(seconds(62), "b:1")) << "too late";
}

TEST_F(RejoinTest, TriesTheLostEveryMinuteUntilTheyAreFound) {
  rejoin_.start(seconds(0), {}, out_);
  dialled();
  rejoin_.on_lost("lost:1");
  for (int i = 0; i < 10; ++i) {
    const Time due = rejoin_.next_deadline();
    rejoin_.on_tick(due - Time(1), out_);
    EXPECT_TRUE(out_.dials.empty());
    rejoin_.on_tick(due, out_);
    EXPECT_EQ(dialled(), std::set<std::string>{"lost:1"});
    EXPECT_LE(rejoin_.next_deadline() - due, seconds(90));
  }
  rejoin_.on_found("lost:1");
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    rejoin_.on_tick(rejoin_.next_deadline(), out_);
    seen.merge(dialled());
  }
  EXPECT_EQ(seen, (std::set<std::string>{"a:1", "b:1"})) << "now and then a configured one";
}

TEST_F(RejoinTest, TheLostAreBoundedAndGivenUpInTheEnd) {
  configured_.clear();
  for (int i = 0; i < 100; ++i) rejoin_.on_lost(fmt::format("lost-{}:1", i));
  rejoin_.start(seconds(0), {}, out_);
  std::set<std::string> seen = dialled();
  int dials = 0;
  for (int i = 0; i < 5000; ++i) {
    rejoin_.on_tick(rejoin_.next_deadline(), out_);
    dials += static_cast<int>(out_.dials.size());
    seen.merge(dialled());
  }
  EXPECT_EQ(seen.size(), 32u);
  EXPECT_EQ(dials, 32 * 60 - 1);
}

TEST(LastSeen, ForgetsWhoWasSilentLongest) {
  LastSeen last_seen({.peers = 2});
  EXPECT_TRUE(last_seen.on_seen(seconds(1), test_id(1)));
  EXPECT_TRUE(last_seen.on_seen(seconds(2), test_id(2)));
  EXPECT_FALSE(last_seen.on_seen(seconds(3), test_id(1)));
  EXPECT_TRUE(last_seen.on_seen(seconds(4), test_id(3)));
  EXPECT_EQ(last_seen.last(test_id(1)), seconds(3));
  EXPECT_EQ(last_seen.last(test_id(2)), kNever);
  EXPECT_TRUE(last_seen.forget(test_id(1)));
  EXPECT_FALSE(last_seen.forget(test_id(1)));
  EXPECT_TRUE(last_seen.on_seen(seconds(5), test_id(1)));
}

}  // namespace
}  // namespace gw::overlay
