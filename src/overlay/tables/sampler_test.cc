#include "overlay/tables/sampler.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "overlay/test/test_peers.h"

namespace gw::overlay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Need = Sampler::Need;

constexpr Time kStart = seconds(100);
constexpr Time kRound = seconds(5);

class SamplerTest : public ::testing::Test {
 protected:
  // Fills the cache with peers 1 to `count`.
  void fill(std::uint64_t count) {
    for (std::uint64_t i = 1; i <= count; ++i) sampler_.offer(test_peer(i));
  }
  // A round in which the asked peer answers, but knows no other peer.
  PeerId good_round(Time now) {
    Output out;
    EXPECT_EQ(sampler_.on_round(now, kRound, own_, out), Need::nothing);
    const PeerId asked = out.sends.at(0).to;
    EXPECT_TRUE(sampler_.on_answer(now, *sampler_.find(asked)));
    return asked;
  }
  static void expect_sound(const DescriptorSet& descriptors, std::size_t limit) {
    std::set<PeerId> ids;
    for (const Descriptor& peer : descriptors.entries()) ids.insert(peer.id);
    EXPECT_EQ(ids.size(), descriptors.size());
    EXPECT_LE(descriptors.size(), limit);
    EXPECT_FALSE(ids.contains(test_id(0)));
  }

  const Descriptor own_ = test_peer(0);
  Rng rng_{1};
  Sampler sampler_{{}, own_.id, rng_};
};

TEST_F(SamplerTest, ARequestHoldsSixteenOthersAndItself) {
  fill(50);
  Output out;
  sampler_.on_round(kStart, kRound, own_, out);
  ASSERT_EQ(out.sends.size(), 1u);
  const Message::Gossip& gossip = out.sends[0].message.gossip();
  EXPECT_EQ(read(gossip.self(), TestSigner()).id, own_.id);
  std::set<PeerId> others;
  for (const auto& other : gossip.others()) others.insert(read(other, TestSigner()).id);
  EXPECT_EQ(others.size(), static_cast<std::size_t>(gossip.others_size()));
  EXPECT_GE(others.size(), 15u);  // the receiver may have been drawn, and needs no word of itself
  EXPECT_LE(others.size(), 16u);
  EXPECT_FALSE(others.contains(out.sends[0].to));
}

TEST_F(SamplerTest, TablesAreBoundedAndWithoutItself) {
  fill(500);
  sampler_.offer(own_);
  expect_sound(sampler_.cache(), 100);
  EXPECT_EQ(sampler_.cache().size(), 100u);
  for (int i = 0; i < 200; ++i) good_round(kStart + i * kRound);
  expect_sound(sampler_.fallback(), 32);
}

TEST_F(SamplerTest, AFailedContactRemovesNoEntry) {
  fill(50);
  for (int i = 0; i < 100; ++i) {
    Output out;
    const Time now = kStart + i * kRound;
    sampler_.on_round(now, kRound, own_, out);
    EXPECT_EQ(sampler_.on_tick(now + seconds(3), own_, out), Need::bootstrap) << "nobody has ever answered";
  }
  EXPECT_EQ(sampler_.cache().size(), 50u) << "nor has anybody aged";
}

TEST_F(SamplerTest, FallsBackOnceToAPeerThatHasAnswered) {
  fill(50);
  const PeerId friendly = good_round(kStart);
  const Time now = kStart + kRound;
  Output out;
  sampler_.on_round(now, kRound, own_, out);
  EXPECT_EQ(sampler_.on_tick(now + milliseconds(2499), own_, out), Need::nothing);
  EXPECT_EQ(out.sends.size(), 1u) << "half of the round is the first one's";
  EXPECT_EQ(sampler_.on_tick(now + milliseconds(2500), own_, out), Need::nothing);
  ASSERT_EQ(out.sends.size(), 2u);
  EXPECT_EQ(out.sends[1].to, friendly);
  EXPECT_EQ(sampler_.on_unreachable(now + milliseconds(2600), friendly, own_, out), Need::bootstrap);
  EXPECT_EQ(out.sends.size(), 2u);
  EXPECT_TRUE(sampler_.fallback().contains(friendly));
}

TEST_F(SamplerTest, ALateAnswerIsTakenOnceAStrangersNever) {
  fill(50);
  Output out;
  sampler_.on_round(kStart, kRound, own_, out);
  const PeerId asked = out.sends[0].to;
  const Descriptor* peer = sampler_.find(asked);
  EXPECT_FALSE(sampler_.on_answer(kStart, test_peer(77)));
  EXPECT_TRUE(sampler_.on_answer(kStart + seconds(14), *peer));
  EXPECT_FALSE(sampler_.on_answer(kStart + seconds(14), *peer));
}

TEST_F(SamplerTest, AgeIsCountedInPeriodsWithSuccess) {
  Descriptor carried = test_peer(1);
  carried.age = 39;
  sampler_.offer(carried);
  fill(20);
  good_round(kStart);
  EXPECT_TRUE(sampler_.cache().contains(carried.id));
  good_round(kStart + seconds(1));
  EXPECT_TRUE(sampler_.cache().contains(carried.id)) << "a second is no period";
  good_round(kStart + seconds(6));
  EXPECT_FALSE(sampler_.cache().contains(carried.id));
  EXPECT_TRUE(sampler_.cache().contains(test_id(2)));
  carried.age = 41;
  EXPECT_FALSE(sampler_.wants(carried)) << "nobody brings it back";
}

TEST_F(SamplerTest, TheNewestDescriptorCounts) {
  Descriptor old = test_peer(1, 5);
  old.age = 30;
  sampler_.offer(old);
  Descriptor again = old;
  again.age = 0;
  EXPECT_FALSE(sampler_.wants(again)) << "only the owner makes it younger";
  EXPECT_FALSE(sampler_.wants(test_peer(1, 4)));
  sampler_.offer(test_peer(1, 6));
  EXPECT_EQ(sampler_.find(old.id)->incarnation.stamp, 6u);
  EXPECT_EQ(sampler_.find(old.id)->age, 0);
  EXPECT_EQ(sampler_.cache().size(), 1u);
}

TEST_F(SamplerTest, AnswersAPeerOncePerHalfSecond) {
  fill(20);
  Output out;
  EXPECT_TRUE(sampler_.answer(kStart, test_id(1), own_, out));
  EXPECT_FALSE(sampler_.answer(kStart + milliseconds(499), test_id(1), own_, out));
  EXPECT_TRUE(sampler_.answer(kStart + milliseconds(499), test_id(2), own_, out));
  EXPECT_TRUE(sampler_.answer(kStart + milliseconds(500), test_id(1), own_, out));
  EXPECT_EQ(out.sends.size(), 3u);
  EXPECT_TRUE(out.sends[0].message.has_gossip_reply());
}

TEST_F(SamplerTest, AnswersSoManyInHalfASecondRefersTheNextOnesAndNoMore) {
  fill(20);
  Output out;
  std::uint64_t answered = 0;
  for (std::uint64_t i = 100; i < 3000; ++i)
    if (sampler_.answer(kStart, test_id(i), own_, out)) ++answered;
  EXPECT_EQ(answered, 512u);
  ASSERT_EQ(out.sends.size(), 512u + 2048u);
  EXPECT_EQ(out.sends[511].message.gossip_reply().others_size(), 16);
  EXPECT_EQ(out.sends[512].message.gossip_reply().others_size(), 2);
}

TEST_F(SamplerTest, AllPeersAreDrawnEquallyOften) {
  fill(100);
  std::map<PeerId, int> drawn;
  for (int i = 0; i < 10'000; ++i) ++drawn[sampler_.sample()->id];
  EXPECT_EQ(drawn.size(), 100u);
  for (const auto& [peer, times] : drawn) {
    EXPECT_GT(times, 50) << peer.brief();
    EXPECT_LT(times, 160) << peer.brief();
  }
}

TEST_F(SamplerTest, DeadPeersAreRemoved) {
  fill(50);
  const PeerId gone = good_round(kStart);
  sampler_.remove(gone);
  EXPECT_EQ(sampler_.find(gone), nullptr);
}

}  // namespace
}  // namespace gw::overlay
