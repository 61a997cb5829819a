#include "job/home/gang.h"

#include "job/test/at_home.h"

namespace gw::job {
namespace home_test {
namespace {

constexpr std::uint8_t kThird = 5, kFourth = 6;

// Without a home.
class GangAlone : public testing::Test {
 protected:
  void claim(std::uint8_t host, std::uint32_t slots) {
    claims_.add(id_of(host), {.claim = host, .slots = slots});
    gang_.on_claimed(now_, claims_);
  }
  void confirm(std::uint8_t host) { gang_.on_answer(id_of(host), gang_.round(), gang_.holds()); }
  Gang::Step step(Time later = Time(0)) {
    now_ += later;
    return gang_.step(now_, claims_, peers_, rng_);
  }

  Time now_{seconds(100)};
  test::FakePeers peers_;
  ClaimTable claims_;
  Rng rng_{7};
  Gang gang_{{}, 4};
};

TEST_F(GangAlone, BeginsWhenItsHostsHaveConfirmedThatTheyTakeNothingAway) {
  claim(kFirst, 2);
  claim(kSecond, 2);
  EXPECT_EQ(step(), Gang::Step::nothing) << "no host has confirmed";
  confirm(kFirst);
  confirm(kSecond);
  EXPECT_EQ(step(), Gang::Step::send);
  EXPECT_FALSE(gang_.holds());
  EXPECT_FALSE(gang_.begun());
  confirm(kFirst);
  EXPECT_EQ(step(), Gang::Step::nothing);
  confirm(kSecond);
  EXPECT_EQ(step(), Gang::Step::begin);
  EXPECT_TRUE(gang_.begun());
  EXPECT_EQ(gang_.round(), 0u);
}

TEST_F(GangAlone, AnAnswerToAnEarlierRoundDoesNotCount) {
  claim(kFirst, 4);
  gang_.on_answer(id_of(kFirst), gang_.round() - 1, true);
  EXPECT_EQ(step(), Gang::Step::nothing);
  gang_.on_answer(id_of(kFirst), gang_.round(), false);
  EXPECT_EQ(step(), Gang::Step::nothing) << "of another state";
  const std::uint64_t round = gang_.round();
  confirm(kFirst);
  EXPECT_EQ(step(), Gang::Step::send);
  EXPECT_GT(gang_.round(), round);
}

TEST_F(GangAlone, HoldsItsClaimsAgainWhenOneIsTakenAwayInTheLastMoment) {
  claim(kFirst, 2);
  claim(kSecond, 2);
  confirm(kFirst);
  confirm(kSecond);
  ASSERT_EQ(step(), Gang::Step::send);
  confirm(kFirst);
  claims_.remove(id_of(kSecond));
  EXPECT_EQ(step(), Gang::Step::send);
  EXPECT_TRUE(gang_.holds()) << "or another gang would wait for what this one keeps";
  EXPECT_FALSE(gang_.is_confirmed(id_of(kFirst)));
}

TEST_F(GangAlone, HoldsItsClaimsAgainWhenAHostDoesNotConfirm) {
  claim(kFirst, 4);
  confirm(kFirst);
  ASSERT_EQ(step(), Gang::Step::send);
  EXPECT_EQ(step(seconds(4)), Gang::Step::nothing);
  EXPECT_EQ(step(seconds(1)), Gang::Step::send);
  EXPECT_TRUE(gang_.holds());
}

TEST_F(GangAlone, GivesAllBackWhenNoOtherSlotComesAndRestsForAsLong) {
  peers_.free_slots[id_of(kFirst)] = 4;
  claim(kFirst, 3);
  confirm(kFirst);
  EXPECT_EQ(step(seconds(5)), Gang::Step::nothing);
  EXPECT_EQ(step(seconds(1)), Gang::Step::give_back);
  claims_.clear();
  EXPECT_EQ(step(seconds(5)), Gang::Step::nothing);
  EXPECT_FALSE(gang_.seeks());
  EXPECT_EQ(step(seconds(7)), Gang::Step::nothing);
  EXPECT_TRUE(gang_.seeks());
}

TEST_F(GangAlone, HoldsNothingForLongEvenIfSlotsComeAndGo) {
  claim(kFirst, 1);
  for (int second = 0; second < 15; ++second) {
    ASSERT_EQ(step(seconds(1)), Gang::Step::nothing) << second;
    claims_.find(id_of(kSecond)) == nullptr ? claim(kSecond, 1) : claims_.remove(id_of(kSecond));
  }
  EXPECT_EQ(step(seconds(1)), Gang::Step::give_back);
}

TEST_F(GangAlone, RestsLongIfTheGridIsTooSmallForIt) {
  peers_.free_slots = {{id_of(kFirst), 2}, {id_of(kSecond), 3}};
  gang_.on_unfit(id_of(kSecond));
  claim(kFirst, 2);
  EXPECT_EQ(gang_.why(claims_, peers_).reason, Reason::gang_too_large);
  EXPECT_EQ(gang_.why(claims_, peers_).detail, "it needs 4 slots at once to begin, and the grid offers 2");
  ASSERT_EQ(step(seconds(6)), Gang::Step::give_back);
  claims_.clear();
  step(seconds(59));
  EXPECT_FALSE(gang_.seeks());
  step(seconds(1));
  EXPECT_TRUE(gang_.seeks());
  gang_.on_lends(id_of(kSecond));
  EXPECT_EQ(gang_.why(claims_, peers_).detail, "it needs 4 slots at once to begin, has 0 now, and the grid offers 5 in all");
}

TEST(Gang, OfOneHasBegun) {
  const Gang gang({}, 1);
  EXPECT_TRUE(gang.begun());
  EXPECT_FALSE(gang.holds());
  EXPECT_TRUE(Gang({}, 0).begun());
}

// With a home.
class AGang : public AtHome {
 protected:
  AGang() {
    wire::pb::Manifest::Policy policy = manifest_of(6).policy();
    policy.set_min_slots(4);
    begin(6, &policy);
    peers_.free_slots = {{id_of(kFirst), 2}, {id_of(kSecond), 2}, {id_of(kThird), 2}, {id_of(kFourth), 2}};
  }
  void collect() {
    for (const auto& [to, message] : take()) {
      sent_.emplace_back(to, message);
      if (message.has_claim()) claims_[to] = message.claim();
      if (message.has_search()) EXPECT_EQ(read_query(message.search(), charter_.id()).value().held(), !home_->gang().begun());
    }
  }
  // The host answers the last claim that it was sent.
  void answer(std::uint8_t host) {
    collect();
    const JobMessage::ClaimName& claim = claims_[id_of(host)];
    JobMessage::ClaimState state;
    state.set_claim(claim.claim());
    state.set_round(claim.round());
    state.set_held(claim.held());
    home_->on_claim_state(now_, id_of(host), state, out_);
  }
  void offer_held(std::uint8_t host, std::uint32_t slots) {
    let_ask(host);
    collect();
    JobMessage::Offer offer;
    offer.set_round(round_);
    offer.set_claim(7);
    offer.set_slots(slots);
    home_->on_offer(now_, id_of(host), offer, out_);
    answer(host);
  }
  void wound(std::uint8_t host) {
    JobMessage::ClaimName name;
    name.set_claim(7);
    home_->on_wounded(now_, id_of(host), name, out_);
  }
  std::size_t assignments() {
    std::size_t count = 0;
    collect();
    for (const auto& [to, message] : std::exchange(sent_, {})) count += message.has_assign() ? 1 : 0;
    return count;
  }

  std::map<PeerId, JobMessage::ClaimName> claims_;
  std::vector<std::pair<PeerId, JobMessage>> sent_;
};

TEST_F(AGang, GivesOutNoWorkBeforeItHasItsSlots) {
  offer_held(kFirst, 2);
  EXPECT_TRUE(claims_[id_of(kFirst)].held());
  EXPECT_EQ(home_->snapshot().waits.at(0).why.reason, Reason::gang_waits);
  offer_held(kSecond, 2);
  EXPECT_EQ(assignments(), 0u) << "the hosts have not confirmed that they keep them for the job";
  answer(kFirst);
  answer(kSecond);
  EXPECT_TRUE(home_->gang().begun());
  EXPECT_EQ(assignments(), 4u);
}

TEST_F(AGang, SearchesOnWhenSlotsAreTakenAway) {
  offer_held(kFirst, 2);
  wound(kFirst);
  EXPECT_EQ(home_->claims().slots(), 0u);
  offer_held(kSecond, 2);
  offer_held(kThird, 2);
  answer(kSecond);
  answer(kThird);
  EXPECT_EQ(assignments(), 4u);
}

TEST_F(AGang, WhoseClaimIsTakenWhileItBeginsBeginsLater) {
  offer_held(kFirst, 2);
  offer_held(kSecond, 2);
  wound(kSecond);
  answer(kFirst);
  EXPECT_FALSE(home_->gang().begun());
  tick(config_.retry);
  EXPECT_EQ(assignments(), 0u);
  EXPECT_TRUE(home_->gang().holds());
}

TEST_F(AGang, GivesBackWhatIsNotEnough) {
  offer_held(kFirst, 2);
  take();
  tick(seconds(7));
  EXPECT_EQ(home_->claims().slots(), 0u);
  EXPECT_TRUE(sent_to<&JobMessage::has_release>(kFirst));
  EXPECT_EQ(assignments(), 0u);
}

TEST_F(AGang, ThatRunsGoesOnWithFewerAfterALoss) {
  offer_held(kFirst, 2);
  offer_held(kSecond, 2);
  answer(kFirst);
  answer(kSecond);
  home_->on_peer_lost(now_, id_of(kSecond), out_);
  EXPECT_EQ(home_->snapshot().running, 2u);
  EXPECT_TRUE(home_->gang().begun());
}

TEST_F(AGang, BeginsAgainAsAGangAfterASuspension) {
  offer_held(kFirst, 2);
  offer_held(kSecond, 2);
  answer(kFirst);
  answer(kSecond);
  std::vector<std::pair<std::uint8_t, JobMessage::Assign>> placed;
  collect();
  for (const auto& [to, message] : sent_)
    if (message.has_assign()) placed.emplace_back(to == id_of(kFirst) ? kFirst : kSecond, message.assign());
  ASSERT_EQ(placed.size(), 4u);
  ASSERT_TRUE(home_->suspend(now_, out_));
  for (const auto& [host, assign] : placed) suspended(host, assign);
  ASSERT_TRUE(home_->resume(now_, out_));
  EXPECT_FALSE(home_->gang().begun());
  take();
  sent_.clear();
  offer_held(kFirst, 2);
  EXPECT_EQ(assignments(), 0u);
}

TEST_F(AGang, ThatHasBegunIsNoGangAfterARestartOfHome) {
  offer_held(kFirst, 2);
  offer_held(kSecond, 2);
  restart();
  EXPECT_FALSE(home_->gang().begun());
  offer_held(kFirst, 2);
  offer_held(kSecond, 2);
  answer(kFirst);
  answer(kSecond);
  ASSERT_EQ(assignments(), 4u);
  restart();
  EXPECT_TRUE(home_->gang().begun());
  EXPECT_EQ(home_->claims().slots(), 4u);
}

}  // namespace
}  // namespace home_test
}  // namespace gw::job
