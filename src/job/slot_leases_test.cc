#include "job/slot_leases.h"

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
  const SlotLeases::Grant* grant = book_.reserve(seconds(1), home_, job_, 3);
  ASSERT_NE(grant, nullptr);
  EXPECT_EQ(grant->slots, 3u);
  EXPECT_EQ(book_.free_slots(), 1u);
  EXPECT_EQ(book_.reserve(seconds(1), home_, other_, 3)->slots, 1u) << "what is left";
  EXPECT_EQ(book_.free_slots(), 0u);
  EXPECT_EQ(book_.reserve(seconds(1), home_, name<JobId>(3), 1), nullptr);
}

TEST_F(Slots, AskedTwiceGiveTheSameReservation) {
  const std::uint64_t claim = book_.reserve(seconds(1), home_, job_, 3)->claim;
  EXPECT_EQ(book_.reserve(seconds(1), home_, job_, 3)->claim, claim);
  EXPECT_EQ(book_.free_slots(), 1u);
}

TEST_F(Slots, ComeBackWhenNobodyClaimsOrRenews) {
  const std::uint64_t claim = book_.reserve(seconds(1), home_, job_, 2)->claim;
  EXPECT_EQ(book_.claim(seconds(2), home_, job_, claim + 1), nullptr) << "another claim";
  EXPECT_EQ(book_.claim(seconds(2), name<PeerId>(7), job_, claim), nullptr) << "another home";
  ASSERT_NE(book_.claim(seconds(2), home_, job_, claim), nullptr);
  EXPECT_TRUE(book_.expire(seconds(20)).empty());
  EXPECT_EQ(book_.expire(book_.next_deadline()).size(), 1u);
  EXPECT_EQ(book_.free_slots(), 4u);
}

TEST_F(Slots, AreReleasedByTheirHomeOnly) {
  const std::uint64_t claim = book_.reserve(seconds(1), home_, job_, 2)->claim;
  EXPECT_FALSE(book_.release(name<PeerId>(7), job_, claim));
  EXPECT_TRUE(book_.release(home_, job_, claim));
  EXPECT_EQ(book_.free_slots(), 4u);
}

TEST_F(Slots, AreFewerAtOnceAndTheLatestGrantsEnd) {
  const std::uint64_t first = book_.reserve(seconds(1), home_, job_, 2)->claim;
  ASSERT_NE(book_.reserve(seconds(1), home_, other_, 2), nullptr);
  const auto ended = book_.resize(3, {});
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended.front().job, other_);
  EXPECT_EQ(book_.free_slots(), 1u);
  EXPECT_NE(book_.claim(seconds(2), home_, job_, first), nullptr) << "what fits stays";
  EXPECT_EQ(book_.reserve(seconds(2), home_, other_, 2)->slots, 1u);
}

TEST_F(Slots, AreTakenBackFromJobsThatAreNamed) {
  const std::uint64_t claim = book_.reserve(seconds(1), home_, job_, 2)->claim;
  const auto ended = book_.resize(8, {job_, other_});
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(book_.claim(seconds(2), home_, job_, claim), nullptr);
  EXPECT_EQ(book_.free_slots(), 8u);
}

TEST_F(Slots, OneOtherPeerGetsNoMoreThanTheOwnerAllows) {
  const PeerId self = name<PeerId>(9), stranger = name<PeerId>(7);
  EXPECT_TRUE(book_.set_caps({.self = self, .slots_per_origin = 2}).empty());
  EXPECT_EQ(book_.reserve(seconds(1), home_, job_, 4)->slots, 2u);
  EXPECT_EQ(book_.reserve(seconds(1), home_, other_, 1), nullptr) << "in all its jobs together";
  EXPECT_EQ(book_.reserve(seconds(1), stranger, name<JobId>(3), 1)->slots, 1u);
  EXPECT_EQ(book_.reserve(seconds(1), self, name<JobId>(4), 1)->slots, 1u) << "our own jobs are not capped";
}

TEST_F(Slots, LowerCapsEndTheLatestGrantsOfWhoHoldsMore) {
  const PeerId stranger = name<PeerId>(7);
  ASSERT_NE(book_.reserve(seconds(1), home_, job_, 1), nullptr);
  ASSERT_NE(book_.reserve(seconds(1), stranger, name<JobId>(3), 1), nullptr);
  ASSERT_NE(book_.reserve(seconds(1), home_, other_, 1), nullptr);
  const auto ended = book_.set_caps({.jobs_per_origin = 1});
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended.front().job, other_);
  EXPECT_EQ(book_.reserve(seconds(1), home_, other_, 1), nullptr);
}

TEST_F(Slots, NameClaimsOfDifferentLivesDifferently) {
  SlotLeases next({.slots = 4}, 10);
  EXPECT_LT(book_.reserve(seconds(1), home_, job_, 1)->claim, next.reserve(seconds(1), home_, job_, 1)->claim);
}

}  // namespace
}  // namespace gw::job
