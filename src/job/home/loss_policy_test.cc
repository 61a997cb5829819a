#include "job/home/loss_policy.h"

#include "job/test/at_home.h"

namespace gw::job {
namespace home_test {
namespace {

constexpr std::uint8_t kThirdHost = 5;

// A job of six tasks that wants four slots.
class AfterALoss : public AtHome {
 protected:
  void begin_with(wire::pb::Manifest::Policy::OnFailure on_failure) {
    policy_ = manifest_of(6).policy();
    policy_.set_on_failure(on_failure);
    begin(6, &policy_);
    peers_.free_slots[id_of(kSecond)] = peers_.free_slots[id_of(kThirdHost)] = 2;
  }
  void lose(std::uint8_t host) {
    peers_.free_slots.erase(id_of(host));
    home_->on_peer_lost(now_, id_of(host), out_);
    take();
  }
  // The slots that home searches for.
  std::uint32_t asked() {
    take();
    std::uint32_t slots = 0;
    for (const Time until = now_ + seconds(20); now_ < until && slots == 0; tick(milliseconds(400), milliseconds(400)))
      for (const auto& [to, message] : take())
        if (message.has_search()) slots = read_query(message.search(), charter_.id()).value().slots();
    return slots;
  }
  std::string sentence() const { return home_->record().sentence(); }

  wire::pb::Manifest::Policy policy_;
};

TEST_F(AfterALoss, TheQuotaIsFilledAgainAndNeverExceeded) {
  begin_with(wire::pb::Manifest::Policy::REPLACE);
  offer(kFirst, 2);
  offer(kSecond, 2);
  ASSERT_EQ(home_->claims().slots(), 4u);
  EXPECT_EQ(asked(), 0u) << "it has all that it wants";
  for (std::uint8_t round = 0; round < 3; ++round) {
    const std::uint8_t from = round % 2 == 0 ? kFirst : kThirdHost, to = round % 2 == 0 ? kThirdHost : kFirst;
    lose(from);
    peers_.free_slots[id_of(from)] = 8;
    EXPECT_EQ(home_->claims().slots(), 2u);
    EXPECT_EQ(offer(to, 3, 8 + round).size(), 2u);
    EXPECT_EQ(home_->claims().slots(), 4u) << "no more than the quota";
    offer_unasked(kKeeperPeer, 2);
    EXPECT_EQ(home_->claims().slots(), 4u) << "an offer that comes late";
  }
}

TEST_F(AfterALoss, AJobThatIgnoresItGoesOnWithWhatIsLeft) {
  begin_with(wire::pb::Manifest::Policy::IGNORE);
  offer(kFirst, 2);
  offer(kSecond, 2);
  lose(kFirst);
  EXPECT_EQ(asked(), 0u);
  EXPECT_EQ(home_->snapshot().running, 2u);
  const std::vector<WaitCount> waits = home_->snapshot().waits;
  const auto found = std::ranges::find(waits, Reason::not_replaced, [](const WaitCount& wait) { return wait.why.reason; });
  ASSERT_NE(found, waits.end());
  EXPECT_EQ(found->why.detail, "the job has 2 slots of the 4 it wanted");
  EXPECT_EQ(found->count, 4u);
  EXPECT_FALSE(home_->over());
}

TEST_F(AfterALoss, AJobThatIgnoresItFillsItsQuotaUntilThen) {
  begin_with(wire::pb::Manifest::Policy::IGNORE);
  offer(kFirst, 2);
  EXPECT_EQ(asked(), 2u);
}

TEST_F(AfterALoss, AJobThatIgnoresItEndsWhenNothingIsLeft) {
  begin_with(wire::pb::Manifest::Policy::IGNORE);
  offer(kFirst, 2);
  lose(kFirst);
  ASSERT_TRUE(home_->over());
  EXPECT_EQ(sentence(), "stopped because all its machines were lost, peer " + id_of(kFirst).brief() +
                            " as the last one, and --on-failure ignore replaces none; 6 of its threads and tasks did not run to an end");
  EXPECT_EQ(home_->record().exit_code(), 1u);
}

TEST_F(AfterALoss, WhatWasLostIsRememberedAcrossARestartOfHome) {
  begin_with(wire::pb::Manifest::Policy::IGNORE);
  offer(kFirst, 2);
  offer(kSecond, 2);
  lose(kFirst);
  restart();
  EXPECT_EQ(asked(), 0u);
  lose(kSecond);
  EXPECT_TRUE(home_->over());
}

TEST_F(AfterALoss, ASuspendedJobComesBackWithAsManySlots) {
  begin_with(wire::pb::Manifest::Policy::IGNORE);
  const auto first = offer(kFirst, 2);
  const auto second = offer(kSecond, 2);
  lose(kFirst);
  ASSERT_TRUE(home_->suspend(now_, out_));
  for (const JobMessage::Assign& assign : second) suspended(kSecond, assign);
  ASSERT_TRUE(home_->resume(now_, out_));
  EXPECT_EQ(asked(), 2u);
}

TEST_F(AfterALoss, ItIsCancelledWithTheNameOfThePeer) {
  begin_with(wire::pb::Manifest::Policy::CANCEL);
  offer(kFirst, 2);
  offer(kSecond, 2);
  home_->on_peer_lost(now_, id_of(kSecond), out_);
  ASSERT_TRUE(home_->over());
  EXPECT_TRUE(sent_to<&JobMessage::has_release>(kFirst));
  EXPECT_EQ(sentence(), "stopped because peer " + id_of(kSecond).brief() +
                            " was lost and --on-failure is cancel; 6 of its threads and tasks did not run to an end");
}

TEST_F(AfterALoss, ASilentHostIsLostToo) {
  begin_with(wire::pb::Manifest::Policy::CANCEL);
  offer(kFirst, 2);
  tick(config_.slots.silence + seconds(2));
  EXPECT_TRUE(home_->over());
}

// Threads that leave with their last images have lost nothing.
TEST_F(AfterALoss, AnOwnerWhoTakesTheMachineBackIsNone) {
  begin_with(wire::pb::Manifest::Policy::CANCEL);
  const auto first = offer(kFirst, 2);
  drain(kFirst, first);
  for (const JobMessage::Assign& assign : first) suspended(kFirst, assign);
  take();
  home_->on_no_claim(
      now_, id_of(kFirst),
      [] {
        JobMessage::ClaimName name;
        name.set_claim(7);
        return name;
      }(),
      out_);
  EXPECT_FALSE(home_->over());
  EXPECT_EQ(asked(), 4u);
}

}  // namespace
}  // namespace home_test
}  // namespace gw::job
