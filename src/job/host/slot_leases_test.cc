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

}  // namespace
}  // namespace gw::job
