#include "job/home/slot_acquisition.h"

#include "job/test/at_home.h"

namespace gw::job {
namespace home_test {

// Home and hosts that answer searches.
class AcquiringSlots : public AtHome {
 protected:
  static constexpr std::uint8_t kThird = 5;

  using Policy = wire::pb::Manifest::Policy;
  void begin_with(std::uint32_t tasks, std::uint32_t slots, Policy::Placing place = Policy::NEAR) {
    Policy policy = manifest_of(1).policy();
    policy.set_slots(slots);
    policy.set_place(place);
    peers_.free_slots = {{id_of(kFirst), 2}, {id_of(kSecond), 2}, {id_of(kThird), 2}};
    begin(tasks, &policy);
    tick(milliseconds(100), milliseconds(100));
    for (const Action& action : out_.now)
      if (const auto* send = std::get_if<Send>(&action)) note_round(send->message.job());
  }
  void on_offer(std::uint8_t from, std::uint32_t slots, std::uint64_t claim, std::uint32_t speed = 0) {
    JobMessage::Offer offer;
    offer.mutable_capacity()->set_speed(speed);
    offer.set_round(round_);
    offer.set_claim(claim);
    offer.set_slots(slots);
    home_->on_offer(now_, id_of(from), offer, out_);
  }
  void on_decline(std::uint8_t from, JobMessage::Decline::Why why, const std::string& sentence) {
    JobMessage::Decline decline;
    decline.set_round(round_);
    decline.set_why(why);
    decline.set_sentence(sentence);
    home_->on_decline(now_, id_of(from), decline, out_);
  }
  // The slots that home has claimed, and the peers to which it has given an offer back, since the last call.
  std::map<PeerId, std::uint32_t> claimed_;
  std::set<PeerId> released_;
  void look() {
    claimed_.clear();
    released_.clear();
    for (const auto& [to, message] : take()) {
      if (message.has_claim()) claimed_[to] = message.claim().slots();
      if (message.has_release()) released_.insert(to);
    }
  }
};

TEST_F(AcquiringSlots, AllNeighboursAreAskedAtOnce) {
  begin_with(4, 4);
  std::set<PeerId> asked;
  for (const auto& [to, message] : take())
    if (message.has_search()) asked.insert(to);
  EXPECT_EQ(asked.size(), 3u);
}

TEST_F(AcquiringSlots, AnOfferIsClaimedAtOnceIfAllThatWasOfferedIsWanted) {
  begin_with(6, 6);
  on_offer(kFirst, 2, 7);
  look();
  EXPECT_EQ(claimed_, (std::map<PeerId, std::uint32_t>{{id_of(kFirst), 2}}));
}

TEST_F(AcquiringSlots, TheChoiceWaitsForThePeersThatWereAskedAndReleasesTheRest) {
  begin_with(1, 1);
  on_offer(kFirst, 2, 7);
  on_offer(kSecond, 2, 8);
  look();
  EXPECT_TRUE(claimed_.empty() && released_.empty()) << "the third one may be better";
  on_decline(kThird, JobMessage::Decline::BUSY, "its 2 slots are taken");
  look();
  EXPECT_EQ(claimed_.size(), 1u);
  EXPECT_EQ(claimed_.begin()->second, 1u) << "no more than is wanted";
  EXPECT_EQ(released_.size(), 1u);
}

TEST_F(AcquiringSlots, TheFasterMachineIsChosenAndOfEqualOnesTheNearer) {
  peers_.distances[id_of(kThird)] = milliseconds(1);
  begin_with(2, 2);
  on_offer(kSecond, 2, 8, 500);
  on_offer(kThird, 2, 9, 1000);
  on_offer(kFirst, 2, 7, 400);
  look();
  EXPECT_EQ(claimed_, (std::map<PeerId, std::uint32_t>{{id_of(kThird), 2}}));
  peers_.distances = {{id_of(kFirst), Time(300'000)}, {id_of(kSecond), Time(200'000)}, {id_of(kThird), Time(900'000)}};
  begin_with(2, 2);
  on_offer(kFirst, 2, 17, 1000);
  on_offer(kSecond, 2, 18, 990);
  on_offer(kThird, 2, 19, 1010);
  look();
  EXPECT_EQ(claimed_, (std::map<PeerId, std::uint32_t>{{id_of(kSecond), 2}}));
}

TEST_F(AcquiringSlots, ASpeedThatThisHomeHasMeasuredCountsMoreThanWhatAPeerSays) {
  history_.note_speed(id_of(kFirst), 0.1);
  begin_with(2, 2);
  on_offer(kFirst, 2, 7, 3000);
  on_offer(kSecond, 2, 8, 500);
  on_decline(kThird, JobMessage::Decline::BUSY, "its 2 slots are taken");
  look();
  EXPECT_EQ(claimed_, (std::map<PeerId, std::uint32_t>{{id_of(kSecond), 2}}));
}

TEST_F(AcquiringSlots, AJobThatIsSpreadTakesASlotOfEachMachine) {
  peers_.distances[id_of(kThird)] = milliseconds(200);
  begin_with(4, 4, Policy::SPREAD);
  on_offer(kFirst, 2, 7, 1000);
  on_offer(kSecond, 2, 8, 1000);
  on_offer(kThird, 2, 9, 100);
  look();
  EXPECT_TRUE(claimed_.empty()) << "there may be more machines";
  tick(milliseconds(400), milliseconds(100));
  look();
  EXPECT_EQ(claimed_.size(), 3u);
  EXPECT_EQ(claimed_[id_of(kThird)], 1u);
}

TEST_F(AcquiringSlots, AJobThatIsPlacedByHashAsksThePeersThatTheOverlayNames) {
  begin_with(2, 2, Policy::HASH);
  ASSERT_EQ(out_.lookups.size(), 2u);
  const auto lookups = out_.lookups;
  for (const auto& [to, message] : take()) EXPECT_FALSE(message.has_search()) << "not yet";
  home_->on_located(now_, lookups[0].slot, id_of(kThird), out_);
  home_->on_located(now_, lookups[1].slot, id_of(kFirst), out_);
  std::map<PeerId, std::uint32_t> asked;
  for (const auto& [to, message] : take()) {
    if (!message.has_search()) continue;
    const auto query = read_query(message.search(), charter_.id()).value();
    asked[to] = query.slots();
    EXPECT_EQ(message.search().hops(), 0u);
  }
  EXPECT_EQ(asked, (std::map<PeerId, std::uint32_t>{{id_of(kThird), 1}, {id_of(kFirst), 1}}));
  on_offer(kThird, 1, 7);
  look();
  EXPECT_EQ(claimed_, (std::map<PeerId, std::uint32_t>{{id_of(kThird), 1}}));
  on_decline(kFirst, JobMessage::Decline::RULES, "its owner uses it");
  tick(milliseconds(500));
  ASSERT_EQ(out_.lookups.size(), 1u);
  EXPECT_EQ(out_.lookups[0].slot, lookups[1].slot);
  EXPECT_NE(out_.lookups[0].key, lookups[1].key) << "with another salt";
  take();
  home_->on_located(now_, lookups[1].slot, std::nullopt, out_);
  tick(milliseconds(500));
  std::set<PeerId> near;
  for (const auto& [to, message] : take())
    if (message.has_search()) near.insert(to);
  EXPECT_EQ(near.size(), 3u) << "the grid has no room near the key: searched near home";
}

TEST_F(AcquiringSlots, APeerThatDoesNotAnswerDelaysTheChoiceBriefly) {
  begin_with(1, 1);
  on_offer(kFirst, 2, 7);
  tick(milliseconds(300), milliseconds(100));
  look();
  EXPECT_EQ(claimed_.size(), 1u);
  on_offer(kSecond, 2, 8);
  look();
  EXPECT_EQ(released_, (std::set{id_of(kSecond)})) << "too late";
}

TEST_F(AcquiringSlots, APeerThatIsLostIsNotWaitedFor) {
  begin_with(2, 2);
  on_offer(kFirst, 2, 7);
  on_offer(kSecond, 2, 8);
  home_->on_peer_lost(now_, id_of(kSecond), out_);
  on_decline(kThird, JobMessage::Decline::BUSY, "its 2 slots are taken");
  look();
  EXPECT_EQ(claimed_, (std::map<PeerId, std::uint32_t>{{id_of(kFirst), 2}}));
}

TEST_F(AcquiringSlots, AnOfferOfARoundThatWasNotAskedIsGivenBack) {
  begin_with(4, 4);
  take();
  ++round_;
  on_offer(kFirst, 2, 7);
  look();
  EXPECT_EQ(released_, (std::set{id_of(kFirst)}));
  EXPECT_TRUE(claimed_.empty());
}

TEST_F(AcquiringSlots, AJobThatWaitsAsksAPeerAsSoonAsItHasSlots) {
  begin_with(8, 8);
  for (const std::uint8_t peer : {kFirst, kSecond, kThird}) on_decline(peer, JobMessage::Decline::BUSY, "its 2 slots are taken");
  tick(seconds(100));
  take();
  peers_.free_slots[id_of(kSecond)] = 3;
  tick(milliseconds(500));
  std::set<PeerId> asked;
  for (const auto& [to, message] : take())
    if (message.has_search()) asked.insert(to);
  EXPECT_EQ(asked, (std::set{id_of(kSecond)})) << "and nobody else";
}

// The other jobs of a home learned of slots that one of them gave back when the lender announced them, seconds later.
TEST_F(AcquiringSlots, SlotsThatAJobGivesBackAreKnownToTheOthers) {
  begin_with(2, 2);
  on_offer(kFirst, 2, 7);
  on_offer(kSecond, 2, 8);
  on_decline(kThird, JobMessage::Decline::BUSY, "its 2 slots are taken");
  look();
  ASSERT_EQ(claimed_.size(), 1u);
  EXPECT_TRUE(peers_.given_back.empty()) << "an offer that was not claimed is no news";
  home_->cancel(now_, out_);
  EXPECT_EQ(peers_.given_back, claimed_);
}

TEST_F(AcquiringSlots, TheReasonIsThatOfThePeersThatWereAsked) {
  begin_with(4, 4);
  EXPECT_EQ(home_->snapshot().waits.at(0).why.reason, Reason::slots_asked);
  on_decline(kFirst, JobMessage::Decline::RULES, "its owner uses it");
  on_decline(kSecond, JobMessage::Decline::RULES, "it lends at 22:00-07:00 only");
  on_decline(kThird, JobMessage::Decline::WORKERS_FAIL, "its workers cannot start");
  EXPECT_EQ(home_->snapshot().waits.at(0).why.reason, Reason::lenders_refuse);
  ASSERT_EQ(home_->snapshot().absent.size(), 3u);
  for (const PeerReason& one : home_->snapshot().absent)
    EXPECT_EQ(one.why.reason, one.peer == id_of(kThird) ? Reason::workers_fail : Reason::lenders_refuse);
  on_decline(kThird, JobMessage::Decline::BUSY, "its 2 slots are taken by job 12ab");
  const Explanation why = home_->snapshot().waits.at(0).why;
  EXPECT_EQ(why.reason, Reason::no_free_slots);
  EXPECT_NE(why.detail.find("1 of 3 machines that answered are busy (its 2 slots are taken by job 12ab)"), std::string::npos) << why.detail;
}

}  // namespace home_test
}  // namespace gw::job
