#include "job/host/slot_leases.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

using std::chrono::seconds;

template <class Name>
Name name(std::uint8_t number) {
  return {sha256(ByteView(&number, 1))};
}

class Slots : public testing::Test {
 protected:
  const PeerId home_ = name<PeerId>(1);
  const JobId job_ = name<JobId>(1);
  const JobId other_ = name<JobId>(2);
  SlotLeases book_{{.slots = 4}, 9};
};

TEST_F(Slots, CountReservedAndClaimedOnes) {
  const SlotLeases::Grant* grant = book_.reserve(seconds(1), {home_, job_, 3});
  ASSERT_NE(grant, nullptr);
  EXPECT_EQ(grant->slots, 3u);
  EXPECT_EQ(book_.free_slots(), 1u);
  EXPECT_EQ(book_.reserve(seconds(1), {home_, other_, 3})->slots, 1u) << "what is left";
  EXPECT_EQ(book_.free_slots(), 0u);
  EXPECT_EQ(book_.reserve(seconds(1), {home_, name<JobId>(3), 1}), nullptr);
}

TEST_F(Slots, AskedTwiceGiveTheSameReservation) {
  const std::uint64_t claim = book_.reserve(seconds(1), {home_, job_, 3})->claim;
  EXPECT_EQ(book_.reserve(seconds(1), {home_, job_, 3})->claim, claim);
  EXPECT_EQ(book_.free_slots(), 1u);
}

TEST_F(Slots, ComeBackWhenNobodyClaimsOrRenews) {
  const std::uint64_t claim = book_.reserve(seconds(1), {home_, job_, 2})->claim;
  EXPECT_EQ(book_.claim(seconds(2), home_, job_, claim + 1), nullptr) << "another claim";
  EXPECT_EQ(book_.claim(seconds(2), name<PeerId>(7), job_, claim), nullptr) << "another home";
  ASSERT_NE(book_.claim(seconds(2), home_, job_, claim), nullptr);
  EXPECT_TRUE(book_.expire(seconds(20)).empty());
  EXPECT_EQ(book_.expire(book_.next_deadline()).size(), 1u);
  EXPECT_EQ(book_.free_slots(), 4u);
}

TEST_F(Slots, AreReleasedByTheirHomeOnly) {
  const std::uint64_t claim = book_.reserve(seconds(1), {home_, job_, 2})->claim;
  EXPECT_FALSE(book_.release(seconds(1), name<PeerId>(7), job_, claim));
  EXPECT_TRUE(book_.release(seconds(1), home_, job_, claim));
  EXPECT_EQ(book_.free_slots(), 4u);
}

TEST_F(Slots, AreFewerAndTheLatestReservationsEndAtOnce) {
  const std::uint64_t first = book_.reserve(seconds(1), {home_, job_, 2})->claim;
  ASSERT_NE(book_.reserve(seconds(1), {home_, other_, 2}), nullptr);
  EXPECT_TRUE(book_.resize(3, {}, seconds(9)).empty()) << "nobody has claimed it";
  EXPECT_EQ(book_.find(other_), nullptr);
  EXPECT_EQ(book_.free_slots(), 1u);
  EXPECT_NE(book_.claim(seconds(2), home_, job_, first), nullptr) << "what fits stays";
  EXPECT_EQ(book_.reserve(seconds(2), {home_, other_, 2})->slots, 1u);
}

TEST_F(Slots, AreTakenBackFromJobsThatAreNamed) {
  const std::uint64_t claim = book_.reserve(seconds(1), {home_, job_, 2})->claim;
  ASSERT_NE(book_.claim(seconds(1), home_, job_, claim), nullptr);
  const auto leaving = book_.resize(8, {job_, other_}, seconds(5));
  ASSERT_EQ(leaving.size(), 1u);
  EXPECT_NE(book_.claim(seconds(2), home_, job_, claim), nullptr) << "its threads are still leaving";
  EXPECT_TRUE(book_.resize(8, {job_}, seconds(9)).empty()) << "told before";
  EXPECT_EQ(book_.next_deadline(), seconds(5));
  EXPECT_EQ(book_.expire(seconds(5)).size(), 1u);
  EXPECT_EQ(book_.claim(seconds(6), home_, job_, claim), nullptr);
  EXPECT_EQ(book_.free_slots(), 8u);
}

TEST_F(Slots, AClaimThatIsDrainedCountsUntilItEnds) {
  const std::uint64_t claim = book_.reserve(seconds(1), {home_, job_, 3})->claim;
  ASSERT_NE(book_.claim(seconds(1), home_, job_, claim), nullptr);
  EXPECT_EQ(book_.resize(2, {}, seconds(5)).size(), 1u);
  EXPECT_EQ(book_.free_slots(), 0u);
  ASSERT_TRUE(book_.end(job_));
  EXPECT_EQ(book_.free_slots(), 2u);
  EXPECT_FALSE(book_.end(job_));
}

TEST_F(Slots, OneOtherPeerGetsNoMoreThanTheOwnerAllows) {
  const PeerId self = name<PeerId>(9), stranger = name<PeerId>(7);
  EXPECT_TRUE(book_.set_caps({.self = self, .slots_per_origin = 2}, seconds(9)).empty());
  EXPECT_EQ(book_.reserve(seconds(1), {home_, job_, 4})->slots, 2u);
  EXPECT_EQ(book_.reserve(seconds(1), {home_, other_, 1}), nullptr) << "in all its jobs together";
  EXPECT_EQ(book_.reserve(seconds(1), {stranger, name<JobId>(3), 1})->slots, 1u);
  EXPECT_EQ(book_.reserve(seconds(1), {self, name<JobId>(4), 1})->slots, 1u) << "our own jobs are not capped";
}

TEST_F(Slots, LowerCapsEndTheLatestGrantsOfWhoHoldsMore) {
  const PeerId stranger = name<PeerId>(7);
  ASSERT_NE(book_.reserve(seconds(1), {home_, job_, 1}), nullptr);
  ASSERT_NE(book_.reserve(seconds(1), {stranger, name<JobId>(3), 1}), nullptr);
  const std::uint64_t latest = book_.reserve(seconds(1), {home_, other_, 1})->claim;
  ASSERT_NE(book_.claim(seconds(1), home_, other_, latest), nullptr);
  const auto leaving = book_.set_caps({.jobs_per_origin = 1}, seconds(9));
  ASSERT_EQ(leaving.size(), 1u);
  EXPECT_EQ(leaving.front().job, other_);
  EXPECT_EQ(book_.reserve(seconds(1), {home_, other_, 1}), nullptr);
}

// Defect 12: random job ids held every slot without limit.
TEST_F(Slots, WhoReservesAndDoesNotClaimWaitsLongerEachTime) {
  Time now = seconds(1);
  std::vector<Time> waits;
  for (int i = 0; i < 3; ++i) {
    ASSERT_NE(book_.reserve(now, {home_, job_, 4}), nullptr);
    now = book_.next_deadline();
    ASSERT_EQ(book_.expire(now).size(), 1u);
    EXPECT_EQ(book_.reserve(now, {home_, job_, 4}), nullptr);
    const Time expired = now;
    while (book_.reserve(now, {home_, other_, 4}) == nullptr) now += seconds(1);
    waits.push_back(now - expired);
    book_.release(now, home_, other_, book_.find(other_)->claim);
  }
  EXPECT_LT(waits[0], waits[1]);
  EXPECT_LT(waits[1], waits[2]);
  EXPECT_NE(book_.reserve(now, {name<PeerId>(7), job_, 4}), nullptr) << "others need not wait";
}

TEST_F(Slots, AClaimThatIsNotUsedEndsAndItsHomeWaits) {
  const std::uint64_t claim = book_.reserve(seconds(1), {home_, job_, 2})->claim;
  ASSERT_NE(book_.claim(seconds(1), home_, job_, claim), nullptr);
  EXPECT_TRUE(book_.end_unused(seconds(61), job_, seconds(1)));
  EXPECT_EQ(book_.reserve(seconds(62), {home_, other_, 1}), nullptr);
  EXPECT_NE(book_.reserve(seconds(121), {home_, other_, 1}), nullptr) << "it has waited as long as it held them";
}

// However it gives them back: by a word, or by no word at all.
TEST_F(Slots, WhoClaimsAndUsesNothingWaitsLongerEachTime) {
  Time now = seconds(1), waited{0};
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t claim = book_.reserve(now, {home_, job_, 4})->claim;
    ASSERT_NE(book_.claim(now, home_, job_, claim), nullptr);
    if (i % 2 == 0) {
      now += seconds(55);
      ASSERT_TRUE(book_.release(now, home_, job_, claim));
    } else {
      now = book_.next_deadline();
      ASSERT_EQ(book_.expire(now).size(), 1u);
    }
    const Time ended = now;
    while (book_.reserve(now, {home_, other_, 4}) == nullptr) now += seconds(1);
    ASSERT_TRUE(book_.release(now, home_, other_, book_.find(other_)->claim));
    EXPECT_GT(now - ended, waited);
    waited = now - ended;
  }
  EXPECT_GE(waited, seconds(400));
}

TEST_F(Slots, WhoUsesThemOrGivesThemBackAtOnceDoesNotWait) {
  const std::uint64_t claim = book_.reserve(seconds(1), {home_, job_, 4})->claim;
  ASSERT_NE(book_.claim(seconds(1), home_, job_, claim), nullptr);
  book_.on_used(job_);
  ASSERT_TRUE(book_.release(seconds(50), home_, job_, claim));
  const std::uint64_t spare = book_.reserve(seconds(50), {home_, other_, 4})->claim;
  ASSERT_TRUE(book_.release(seconds(50), home_, other_, spare));
  EXPECT_NE(book_.reserve(seconds(50), {home_, job_, 4}), nullptr);
}

TEST_F(Slots, OneOriginHasAtMostSoManyClaims) {
  SlotLeases few({.slots = 4, .claims_per_origin = 2}, 1);
  EXPECT_NE(few.reserve(seconds(1), {home_, name<JobId>(1), 1}), nullptr);
  EXPECT_NE(few.reserve(seconds(1), {home_, name<JobId>(2), 1}), nullptr);
  EXPECT_EQ(few.reserve(seconds(1), {home_, name<JobId>(3), 1}), nullptr);
}

TEST_F(Slots, NameClaimsOfDifferentLivesDifferently) {
  SlotLeases next({.slots = 4}, 10);
  EXPECT_LT(book_.reserve(seconds(1), {home_, job_, 1})->claim, next.reserve(seconds(1), {home_, job_, 1})->claim);
}

ConsumerName a_user(std::uint8_t number) { return name<JobId>(number).hash; }

TEST_F(Slots, AnotherUserSharesSlotsThatAreAllTaken) {
  ASSERT_EQ(book_.reserve(seconds(1), {home_, job_, 4, a_user(1)})->slots, 4u);
  EXPECT_EQ(book_.reserve(seconds(1), {home_, other_, 4, a_user(1)}), nullptr) << "its user has all";
  const SlotLeases::Grant* shared = book_.reserve(seconds(1), {home_, other_, 4, a_user(2)});
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(shared->slots, 2u) << "its part";
  EXPECT_TRUE(shared->shared);
  EXPECT_EQ(book_.reserve(seconds(1), {home_, name<JobId>(3), 4, a_user(3), 2})->slots, 2u) << "by its weight";
}

TEST_F(Slots, AJobOfHigherPrioritySharesTheSlotsOfItsUser) {
  ASSERT_EQ(book_.reserve(seconds(1), {home_, job_, 4, a_user(1)})->slots, 4u);
  EXPECT_EQ(book_.reserve(seconds(1), {home_, other_, 3, a_user(1), 1, 7})->slots, 3u);
  EXPECT_EQ(book_.reserve(seconds(1), {home_, name<JobId>(3), 3, a_user(1), 1, 7})->slots, 1u);
  EXPECT_EQ(book_.reserve(seconds(1), {home_, name<JobId>(4), 3, a_user(1), 1, 7}), nullptr);
}

TEST_F(Slots, WhereMemoryIsLimitedAClaimBeyondItsPartMakesRoom) {
  book_.set_sharing(false);
  const std::uint64_t claim = book_.reserve(seconds(1), {home_, job_, 4, a_user(1)})->claim;
  ASSERT_NE(book_.claim(seconds(1), home_, job_, claim), nullptr);
  const SlotLeases::Wanted wanted{home_, other_, 4, a_user(2)};
  EXPECT_EQ(book_.reserve(seconds(1), wanted), nullptr);
  EXPECT_FALSE(book_.make_room({home_, other_, 4, a_user(1)}, seconds(9))) << "its own user has all";
  EXPECT_EQ(book_.make_room(wanted, seconds(9))->job, job_);
  EXPECT_FALSE(book_.make_room(wanted, seconds(9))) << "one at a time";
}

// --- slots that are held for a gang

class HeldSlots : public Slots {
 protected:
  static JobId job(std::uint8_t number) { return name<JobId>(number); }
  static SlotLeases::Wanted wanted(std::uint8_t job, std::uint32_t slots, Time submitted, std::uint8_t user = 1) {
    return {
        .home = name<PeerId>(job), .job = name<JobId>(job), .slots = slots, .consumer = a_user(user), .submitted = submitted, .held = true};
  }
  // Reserves slots for a job and holds them. The claim; 0: there are none for it.
  std::uint64_t hold(std::uint8_t job, std::uint32_t slots, Time submitted, Time now = seconds(1), std::uint8_t user = 1) {
    const SlotLeases::Grant* grant = book_.reserve(now, wanted(job, slots, submitted, user));
    if (grant == nullptr) return 0;
    const std::uint64_t claim = grant->claim;
    EXPECT_NE(book_.claim(now, name<PeerId>(job), name<JobId>(job), claim, 0, {true, 1}), nullptr);
    return claim;
  }
  void keep(std::uint8_t job, std::uint64_t claim, std::uint64_t round = 2) {
    book_.claim(seconds(2), name<PeerId>(job), name<JobId>(job), claim, 0, {false, round});
  }
  std::vector<JobId> wounded() {
    std::vector<JobId> jobs;
    for (const SlotLeases::Grant& grant : book_.take_wounded()) jobs.push_back(grant.job);
    return jobs;
  }
};

TEST_F(HeldSlots, AreTakenAwayForAnOlderJobAndForNoOther) {
  ASSERT_NE(hold(1, 4, seconds(50)), 0u);
  EXPECT_EQ(hold(2, 2, seconds(60)), 0u) << "it is younger";
  EXPECT_TRUE(wounded().empty());
  const SlotLeases::Grant* grant = book_.reserve(seconds(1), wanted(3, 2, seconds(40)));
  ASSERT_NE(grant, nullptr);
  EXPECT_EQ(grant->slots, 2u);
  EXPECT_FALSE(grant->shared);
  EXPECT_EQ(wounded(), (std::vector{job(1)}));
  EXPECT_TRUE(wounded().empty()) << "told once";
  EXPECT_EQ(book_.free_slots(), 2u);
}

TEST_F(HeldSlots, OfTwoJobsOfOneTimeTheIdDecidesEverywhereAlike) {
  const auto [low, high] = job(1) < job(2) ? std::pair<std::uint8_t, std::uint8_t>{1, 2} : std::pair<std::uint8_t, std::uint8_t>{2, 1};
  ASSERT_NE(hold(low, 4, seconds(50)), 0u);
  EXPECT_EQ(hold(high, 4, seconds(50)), 0u);
  SlotLeases other({.slots = 4}, 3);
  const std::uint64_t claim = other.reserve(seconds(1), wanted(high, 4, seconds(50)))->claim;
  other.claim(seconds(1), name<PeerId>(high), job(high), claim, 0, {true, 1});
  EXPECT_NE(other.reserve(seconds(1), wanted(low, 4, seconds(50))), nullptr);
}

TEST_F(HeldSlots, OfTheYoungestJobGoFirstAndNoMoreThanNeeded) {
  ASSERT_NE(hold(1, 1, seconds(50)), 0u);
  ASSERT_NE(hold(2, 1, seconds(70)), 0u);
  ASSERT_NE(hold(3, 1, seconds(60)), 0u);
  EXPECT_EQ(book_.reserve(seconds(1), wanted(4, 2, seconds(40)))->slots, 2u) << "one was free";
  EXPECT_EQ(wounded(), (std::vector{job(2)}));
}

// Design 016: claims of jobs that run are never taken this way.
TEST_F(HeldSlots, OfAJobThatHasBegunStay) {
  const std::uint64_t claim = hold(1, 4, seconds(50));
  keep(1, claim);
  EXPECT_EQ(hold(2, 2, seconds(40)), 0u);
  EXPECT_TRUE(wounded().empty());
  EXPECT_FALSE(book_.find(job(1))->held);
}

TEST_F(HeldSlots, GoBackToBeingHeldUntilWorkCame) {
  const std::uint64_t claim = hold(1, 4, seconds(50));
  keep(1, claim, 2);
  book_.claim(seconds(2), name<PeerId>(1), job(1), claim, 0, {true, 3});
  EXPECT_TRUE(book_.find(job(1))->held);
  book_.claim(seconds(2), name<PeerId>(1), job(1), claim, 0, {false, 2});
  EXPECT_TRUE(book_.find(job(1))->held) << "a late message of an earlier round";
  keep(1, claim, 4);
  book_.on_used(job(1));
  book_.claim(seconds(2), name<PeerId>(1), job(1), claim, 0, {true, 5});
  EXPECT_FALSE(book_.find(job(1))->held) << "it runs";
}

TEST_F(HeldSlots, ComeBackAfterAWhileAndTheirHomeHoldsNoneForAsLong) {
  const std::uint64_t claim = hold(1, 4, seconds(50));
  for (Time now = seconds(2); now < seconds(21); now += seconds(2))
    ASSERT_NE(book_.claim(now, name<PeerId>(1), job(1), claim, 0, {true, 1}), nullptr);
  EXPECT_EQ(book_.next_deadline(), seconds(21)) << "renewed or not";
  ASSERT_EQ(book_.expire(seconds(21)).size(), 1u);
  EXPECT_EQ(book_.free_slots(), 4u);
  EXPECT_EQ(hold(1, 4, seconds(50), seconds(40)), 0u);
  EXPECT_NE(book_.reserve(seconds(40), {name<PeerId>(1), job(9), 1, a_user(1)}), nullptr) << "for a job that begins at once";
  EXPECT_NE(hold(1, 4, seconds(50), seconds(41)), 0u);
}

TEST_F(HeldSlots, ThatWereTakenAwayLetNobodyWait) {
  ASSERT_NE(hold(1, 4, seconds(50)), 0u);
  const std::uint64_t claim = hold(2, 4, seconds(40), seconds(9));
  ASSERT_NE(claim, 0u);
  ASSERT_TRUE(book_.release(seconds(9), name<PeerId>(2), job(2), claim));
  EXPECT_NE(hold(1, 4, seconds(50), seconds(9)), 0u);
}

TEST_F(HeldSlots, StayWhenAnotherUserGetsItsPartBesideThem) {
  ASSERT_NE(hold(1, 4, seconds(50)), 0u);
  EXPECT_TRUE(book_.reserve(seconds(1), wanted(2, 2, seconds(40), 2))->shared);
  EXPECT_TRUE(wounded().empty());
}

// An older job that gets no slot where users share them took the held slots of younger gangs away with each of its searches.
TEST_F(HeldSlots, StayIfTakingThemAwayMakesNoneFree) {
  const SlotLeases::Grant* runs = book_.reserve(seconds(1), {.home = name<PeerId>(9), .job = job(9), .slots = 4, .consumer = a_user(1)});
  ASSERT_NE(runs, nullptr);
  ASSERT_NE(book_.claim(seconds(1), name<PeerId>(9), job(9), runs->claim), nullptr);
  ASSERT_NE(hold(1, 2, seconds(50), seconds(1), 2), 0u);
  EXPECT_EQ(book_.reserve(seconds(1), wanted(2, 4, seconds(40), 1)), nullptr) << "its user has its part";
  EXPECT_TRUE(wounded().empty());
}

TEST_F(HeldSlots, EndAtOnceWhenTheOwnerTakesThemBack) {
  ASSERT_NE(hold(1, 4, seconds(50)), 0u);
  EXPECT_TRUE(book_.resize(0, {}, seconds(9)).empty()) << "no thread has to leave";
  EXPECT_EQ(wounded(), (std::vector{job(1)}));
}

TEST_F(HeldSlots, AreThoseThatWereReservedForIt) {
  const std::uint64_t claim = book_.reserve(seconds(1), {name<PeerId>(1), job(1), 4, a_user(1)})->claim;
  book_.claim(seconds(1), name<PeerId>(1), job(1), claim, 0, {true, 1});
  EXPECT_FALSE(book_.find(job(1))->held) << "else a home would not have to wait between two times";
}

}  // namespace
}  // namespace gw::job
