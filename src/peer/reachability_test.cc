#include "peer/reachability.h"

#include <gtest/gtest.h>

#include "overlay/test/test_peers.h"

namespace gw::peer {
namespace {

using overlay::test_id;
using std::chrono::minutes;
using std::chrono::seconds;

class ReachabilityTest : public testing::Test {
 protected:
  // An open peer, connected.
  void meet(std::uint64_t number, Link link = Link::dialled, Reach reach = Reach::open) {
    contacts_[test_id(number)] = {.address = fmt::format("192.0.2.{}:1", number), .reach = reach, .anchors = {}};
    now_ += std::chrono::milliseconds(1);
    self_.on_connected(now_, test_id(number), link);
  }

  // The peers asked for a dial-back in the next `time`.
  std::vector<PeerId> asked_within(Time time) {
    std::vector<PeerId> asked;
    for (const Time until = now_ + time; now_ < until;) {
      now_ = std::min(until, std::max(now_ + std::chrono::milliseconds(1), self_.next_deadline()));
      Actions out;
      self_.on_tick(now_, out);
      for (const job::Action& action : out.now) {
        const job::Send& send = std::get<job::Send>(action);
        EXPECT_EQ(send.message.dial_back().port(), 4000u);
        asked.push_back(send.to);
      }
    }
    return asked;
  }

  enum class Outcome { reached, missed };
  void answer(std::uint64_t number, Outcome outcome, const std::string& address = "198.51.100.7:4000") {
    job::PeerMessage::DialedBack answer;
    answer.set_address(address);
    answer.set_reached(outcome == Outcome::reached);
    self_.on_answer(now_, test_id(number), answer);
  }

  std::vector<PeerId> anchors() const {
    std::vector<PeerId> peers;
    for (const wire::Anchor& anchor : self_.contact().anchors) peers.push_back(anchor.peer);
    return peers;
  }

  Time now_ = seconds(1);
  std::map<PeerId, Contact> contacts_;
  Reachability self_{{.address = "10.0.0.2:4000"}, [this](const PeerId& peer) { return contacts_[peer]; }, Rng(1)};
};

TEST_F(ReachabilityTest, TwoOfThreeDecideAndWhatTheySawIsPublished) {
  for (const std::uint64_t peer : {1, 2, 3, 4}) meet(peer);
  EXPECT_EQ(self_.contact().reach, Reach::unknown);
  EXPECT_EQ(asked_within(seconds(1)), (std::vector{test_id(1), test_id(2), test_id(3)}));
  answer(1, Outcome::reached);
  answer(2, Outcome::missed);
  EXPECT_EQ(self_.contact().reach, Reach::unknown);
  answer(4, Outcome::missed);
  EXPECT_EQ(self_.contact().reach, Reach::unknown) << "it was not asked";
  answer(3, Outcome::reached);
  EXPECT_EQ(self_.contact(), (Contact{"198.51.100.7:4000", Reach::open, {}}));
  EXPECT_EQ(self_.take_change()->reach, Reach::open);
  EXPECT_FALSE(self_.take_change());
}

TEST_F(ReachabilityTest, ALoopbackAddressIsNotPublished) {
  for (const std::uint64_t peer : {1, 2}) meet(peer);
  asked_within(seconds(1));
  answer(1, Outcome::reached, "127.0.0.1:4000");
  answer(2, Outcome::reached, "127.0.0.1:4000");
  EXPECT_EQ(self_.contact(), (Contact{"10.0.0.2:4000", Reach::open, {}}));
}

TEST_F(ReachabilityTest, APeerThatCannotBeDialledNamesAnchorsAndReplacesALostOne) {
  for (const std::uint64_t peer : {1, 2, 3, 4}) meet(peer);
  meet(5, Link::dialled, Reach::outbound);
  meet(6, Link::relayed);
  asked_within(seconds(1));
  answer(1, Outcome::missed);
  answer(2, Outcome::missed);
  EXPECT_EQ(self_.contact().reach, Reach::outbound);
  EXPECT_EQ(self_.contact().address, "10.0.0.2:4000") << "others in its own network may reach it there";
  EXPECT_EQ(anchors(), (std::vector{test_id(1), test_id(2), test_id(3)}));
  self_.take_change();
  self_.on_disconnected(now_, test_id(2));
  EXPECT_EQ(anchors(), (std::vector{test_id(1), test_id(3), test_id(4)}));
  EXPECT_TRUE(self_.take_change());
}

TEST_F(ReachabilityTest, AnchorsAreNamedBeforeAnythingIsKnown) {
  meet(1, Link::dialled, Reach::unknown);
  EXPECT_TRUE(anchors().empty());
  contacts_[test_id(1)].reach = Reach::open;
  asked_within(seconds(2));
  EXPECT_EQ(anchors(), std::vector{test_id(1)});
  contacts_[test_id(1)].address = "name.example:1";
  asked_within(seconds(2));
  EXPECT_TRUE(anchors().empty()) << "nobody looks up a name to reach somebody else";
}

TEST_F(ReachabilityTest, OneNeighbourDecidesUntilThereAreMore) {
  meet(1);
  EXPECT_EQ(asked_within(seconds(1)), std::vector{test_id(1)});
  answer(1, Outcome::reached);
  EXPECT_EQ(self_.contact().reach, Reach::open);
  EXPECT_TRUE(asked_within(minutes(8)).empty());
  meet(2);
  meet(3);
  EXPECT_EQ(asked_within(seconds(1)).size(), 3u);
  answer(2, Outcome::missed);
  answer(3, Outcome::missed);
  EXPECT_EQ(self_.contact().reach, Reach::outbound);
}

TEST_F(ReachabilityTest, AsksAgainEveryTenMinutesAndSoonIfAnswersDoNotAgree) {
  meet(1);
  meet(2);
  EXPECT_EQ(asked_within(seconds(1)).size(), 2u);
  answer(1, Outcome::reached);
  answer(2, Outcome::missed);
  EXPECT_EQ(self_.contact().reach, Reach::unknown);
  EXPECT_EQ(asked_within(seconds(6)).size(), 2u);
  answer(1, Outcome::reached);
  answer(2, Outcome::reached);
  EXPECT_EQ(self_.contact().reach, Reach::open);
  EXPECT_TRUE(asked_within(minutes(8)).empty());
  EXPECT_FALSE(asked_within(minutes(4)).empty());
}

TEST_F(ReachabilityTest, ASingleFailedDialBackDoesNotDecide) {
  meet(1);
  asked_within(seconds(1));
  answer(1, Outcome::missed);
  EXPECT_EQ(self_.contact().reach, Reach::unknown) << "it may have been the network";
  EXPECT_EQ(asked_within(seconds(6)).size(), 1u);
  answer(1, Outcome::missed);
  EXPECT_EQ(self_.contact().reach, Reach::outbound);
}

TEST_F(ReachabilityTest, AfterANoItAsksAgainSoonThenLessOften) {
  meet(1);
  std::size_t checks = 0;
  for (int second = 0; second < 60; ++second)
    for (const PeerId& asked : asked_within(seconds(1))) {
      EXPECT_EQ(asked, test_id(1));
      answer(1, Outcome::missed);
      ++checks;
    }
  EXPECT_GE(checks, 4u);
  EXPECT_LE(checks, 5u);
  EXPECT_EQ(self_.contact().reach, Reach::outbound);
}

TEST_F(ReachabilityTest, SilenceOfTheAskedPeersDecidesNothing) {
  meet(1);
  EXPECT_EQ(asked_within(seconds(2)).size(), 1u);
  EXPECT_FALSE(asked_within(seconds(20)).empty()) << "it asks again";
  EXPECT_EQ(self_.contact().reach, Reach::unknown);
}

TEST_F(ReachabilityTest, ARelayCannotSeeWhereAPeerIs) {
  meet(1, Link::relayed);
  EXPECT_TRUE(asked_within(seconds(30)).empty());
}

TEST_F(ReachabilityTest, APeerThatReachesOthersOnlyByRelayIsRelayOnly) {
  for (const std::uint64_t peer : {1, 2}) meet(peer);
  asked_within(seconds(1));
  for (const std::uint64_t peer : {1, 2}) answer(peer, Outcome::missed);
  for (const std::uint64_t peer : {7, 8, 9}) meet(peer, Link::carried);
  EXPECT_EQ(self_.contact().reach, Reach::outbound) << "what others prefer says nothing";
  for (const std::uint64_t peer : {3, 4, 5}) meet(peer, Link::relayed);
  EXPECT_EQ(self_.contact().reach, Reach::relay_only);
  meet(6);
  EXPECT_EQ(self_.contact().reach, Reach::outbound) << "another one was dialled after all";
}

TEST_F(ReachabilityTest, DialsForOthersAtALimitedRate) {
  Actions out;
  self_.on_dial_back(now_, test_id(1), 7, out);
  self_.on_dial_back(now_, test_id(1), 8, out);
  ASSERT_EQ(out.now.size(), 1u);
  EXPECT_EQ(std::get<job::DialBack>(out.now[0]).port, 7u);
  for (std::uint64_t peer = 2; peer < 100; ++peer) self_.on_dial_back(now_, test_id(peer), 7, out);
  EXPECT_EQ(out.now.size(), 16u);
  job::PeerMessage::DialedBack result;
  result.set_address("192.0.2.1:7");
  Actions answer;
  self_.on_dialled(test_id(1), result, answer);
  EXPECT_EQ(std::get<job::Send>(answer.now[0]).message.dialed_back().address(), "192.0.2.1:7");
  self_.on_dial_back(now_ + seconds(2), test_id(1), 9, out);
  EXPECT_EQ(out.now.size(), 17u);
}

TEST(Reachability, APeerThatDoesNotListenDoesNotAsk) {
  Reachability self({}, [](const PeerId&) { return Contact{}; }, Rng(1));
  self.on_connected(seconds(1), test_id(1), Link::dialled);
  Actions out;
  self.on_tick(minutes(1), out);
  EXPECT_TRUE(out.now.empty());
  EXPECT_EQ(self.contact().reach, Reach::outbound);
}

}  // namespace
}  // namespace gw::peer
