#include "job/group/group_member.h"

#include <gtest/gtest.h>

#include <limits>

#include "job/test/fake_group.h"

namespace gw::job {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::FakeGroup;

TEST(GroupMember, OneMemberLeadsAndCommitsAlone) {
  FakeGroup group(1);
  group.run(seconds(7));
  ASSERT_EQ(group.leader(), 1);
  EXPECT_TRUE(group.propose(1, "a").has_value());
  EXPECT_EQ(group.state(1), "a");
}

TEST(GroupMember, ThreeMembersElectOneLeader) {
  FakeGroup group(3);
  group.run(seconds(20));
  const std::uint8_t leader = group.leader();
  ASSERT_NE(leader, 0);
  for (std::uint8_t number = 1; number <= 3; ++number) {
    EXPECT_EQ(group.at(number).leads(), number == leader);
    EXPECT_EQ(group.at(number).leader(), FakeGroup::peer(leader));
    EXPECT_EQ(group.at(number).term(), group.at(leader).term());
  }
}

TEST(GroupMember, CommitsWhatAMajorityHasOnDisk) {
  FakeGroup group(3);
  group.run(seconds(20));
  const std::uint8_t leader = group.leader();
  const std::uint8_t other = leader % 3 + 1;
  const std::uint8_t third = other % 3 + 1;
  group.hold_disk(other);
  group.hold_disk(third);
  ASSERT_TRUE(group.propose(leader, "a").has_value());
  EXPECT_EQ(group.state(leader), "") << "no other disk has it";
  group.release_disk(other);
  group.deliver();
  EXPECT_EQ(group.state(leader), "a");
  group.run(seconds(2));
  EXPECT_EQ(group.state(other), "a");
}

TEST(GroupMember, LeaderCountsItselfWhenItsOwnDiskHasTheEntry) {
  FakeGroup group(3);
  group.run(seconds(20));
  const std::uint8_t leader = group.leader();
  group.cut(leader % 3 + 1);
  group.hold_disk(leader);
  ASSERT_TRUE(group.propose(leader, "a").has_value());
  EXPECT_EQ(group.state(leader), "");
  group.release_disk(leader);
  EXPECT_EQ(group.state(leader), "a");
}

TEST(GroupMember, AnotherLeadsWhenTheLeaderIsGoneAndTheOldOneFollowsIt) {
  FakeGroup group(3);
  group.run(seconds(20));
  const std::uint8_t old = group.leader();
  ASSERT_TRUE(group.propose(old, "a").has_value());
  group.cut(old);
  ASSERT_TRUE(group.propose(old, "lost").has_value());
  group.run(seconds(20));
  EXPECT_FALSE(group.at(old).leads()) << "it hears no majority";
  const std::uint8_t leader = group.leader();
  ASSERT_NE(leader, 0);
  EXPECT_TRUE(group.at(leader).is_established());
  ASSERT_TRUE(group.propose(leader, "b").has_value());
  group.heal();
  group.run(seconds(20));
  EXPECT_EQ(group.leader(), leader) << "who was cut off does not disturb the others";
  for (std::uint8_t number = 1; number <= 3; ++number) EXPECT_EQ(group.state(number), "ab");
}

TEST(GroupMember, DoesNotLeadWithoutAMajority) {
  FakeGroup group(3);
  group.cut(2);
  group.cut(3);
  group.run(seconds(60));
  EXPECT_FALSE(group.at(1).leads());
  EXPECT_EQ(group.at(1).term(), 0U) << "trials change no term";
}

TEST(GroupMember, RefusesAVoteForAnOlderLogAndASecondVoteInATerm) {
  FakeGroup group(3);
  group.run(seconds(20));
  const std::uint8_t leader = group.leader();
  const std::uint8_t voter = leader % 3 + 1;
  ASSERT_TRUE(group.propose(leader, "a").has_value());
  group.cut(leader);
  group.cut(voter % 3 + 1);
  group.run(seconds(20));
  GroupMember& member = group.at(voter);
  const std::uint64_t term = member.term() + 5;
  const auto asked = [&](std::uint8_t candidate, LogPosition last) {
    GroupOutput out;
    member.on_message(group.now(), FakeGroup::peer(candidate), {term, AskVote{Poll::election, last}}, out);
    return std::get<Vote>(out.sends.at(0).message.kind).granted;
  };
  EXPECT_FALSE(asked(8, {0, 100}));
  EXPECT_TRUE(asked(8, member.log().last()));
  EXPECT_TRUE(asked(8, member.log().last())) << "the answer may have been lost";
  EXPECT_FALSE(asked(9, member.log().last()));
}

TEST(GroupMember, NeverReplacesACommittedEntry) {
  FakeGroup group(3);
  group.run(seconds(20));
  const std::uint8_t leader = group.leader();
  ASSERT_TRUE(group.propose(leader, "a").has_value());
  group.run(seconds(1));
  const std::uint8_t victim = leader % 3 + 1;
  GroupMember& member = group.at(victim);
  const std::uint64_t term = member.term() + 1;
  // The message of a member that lies.
  group.send(9, victim,
             {term, Replicate{.before = {}, .committed = 2, .entries = {{.term = term, .content = "x"}, {.term = term, .content = "y"}}}});
  EXPECT_EQ(group.state(victim), "a");
  EXPECT_EQ(member.log().at(2).content, "a");
}

TEST(GroupMember, SurvivesEveryMessageOfALiar) {
  FakeGroup group(3);
  group.run(seconds(20));
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t term : {std::uint64_t{0}, group.at(1).term(), kMost / 4 + 1, kMost})
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, kMost / 4 + 1, kMost})
      for (std::uint8_t to = 1; to <= 3; ++to) {
        group.send(9, to, {term, AskVote{Poll::trial, {number, number}}});
        group.send(9, to, {term, AskVote{Poll::election, {number, number}}});
        group.send(9, to, {term, Vote{Poll::election, true}});
        group.send(9, to, {term, Replicated{true, number}});
        group.send(9, to, {term, Replicated{false, number}});
        group.send(9, to, {term, Replicate{.before = {number, number}, .committed = number, .entries = {{.term = number}}}});
        group.send(9, to, {term, InstallState{{{number, number}, {}}, {}}});
      }
  group.run(seconds(30));
}

TEST(GroupMember, MemberThatLagsGetsTheWholeState) {
  FakeGroup group(3);
  group.run(seconds(20));
  const std::uint8_t leader = group.leader();
  const std::uint8_t slow = leader % 3 + 1;
  group.cut(slow);
  for (const char* content : {"a", "b", "c"}) ASSERT_TRUE(group.propose(leader, content).has_value());
  group.at(leader).discard(group.at(leader).committed());
  group.heal();
  group.run(seconds(5));
  EXPECT_EQ(group.state(slow), "abc");
  ASSERT_TRUE(group.propose(leader, "d").has_value());
  group.run(seconds(2));
  EXPECT_EQ(group.state(slow), "abcd");
}

TEST(GroupMember, LearnerCatchesUpBeforeItCounts) {
  FakeGroup group(1);
  group.run(seconds(7));
  ASSERT_TRUE(group.propose(1, "a").has_value());
  group.add(2);
  group.at(1).add_learner(group.now(), FakeGroup::peer(2));
  EXPECT_FALSE(group.at(1).has_caught_up(FakeGroup::peer(2)));
  group.run(seconds(2));
  EXPECT_TRUE(group.at(1).has_caught_up(FakeGroup::peer(2)));
  EXPECT_FALSE(group.at(2).is_member());
  ASSERT_TRUE(group.change(1, {1, 2}).has_value());
  group.run(seconds(2));
  EXPECT_TRUE(group.at(2).is_member());
  EXPECT_EQ(group.state(2), "a");
  group.cut(2);
  ASSERT_TRUE(group.propose(1, "b").has_value());
  EXPECT_EQ(group.state(1), "a") << "two of two are a majority";
}

TEST(GroupMember, MembersChangeOneAtATime) {
  FakeGroup group(3);
  group.run(seconds(20));
  const std::uint8_t leader = group.leader();
  EXPECT_EQ(group.change(leader, {leader}).error().kind, Kind::invalid);
  EXPECT_EQ(group.change(leader, {1, 2, 3, 4}).error().kind, Kind::invalid) << "the limit is three";
  const auto other = static_cast<std::uint8_t>((leader + 1) % 3 + 1);
  group.cut(leader % 3 + 1);
  ASSERT_TRUE(group.change(leader, {leader, other}).has_value());
  group.run(seconds(2));
  EXPECT_EQ(group.at(leader).members().size(), 2U);
  group.cut(other);
  ASSERT_TRUE(group.change(leader, {leader, other, 4}).has_value());
  EXPECT_EQ(group.change(leader, {leader, other}).error().kind, Kind::overloaded) << "the change before is not committed";
}

TEST(GroupMember, LeaderThatLeavesStepsDownAndAnotherOneLeads) {
  FakeGroup group(3);
  group.run(seconds(20));
  const std::uint8_t old = group.leader();
  const auto other = static_cast<std::uint8_t>(old % 3 + 1);
  const auto third = static_cast<std::uint8_t>(other % 3 + 1);
  ASSERT_TRUE(group.change(old, {other, third}).has_value());
  EXPECT_FALSE(group.at(old).leads());
  group.run(seconds(20));
  EXPECT_NE(group.leader(), 0);
  EXPECT_NE(group.leader(), old);
}

// A seed of the simulator: the rest of the group lacks the change and cannot win a vote of the member that has it.
TEST(GroupMember, LeaderThatIsToLeaveLeadsAgainUntilThatIsCommitted) {
  FakeGroup group(2);
  group.run(seconds(20));
  const std::uint8_t leader = group.leader();
  const auto other = static_cast<std::uint8_t>(3 - leader);
  group.cut(other);
  ASSERT_TRUE(group.change(leader, {other}).has_value());
  group.run(seconds(20));
  EXPECT_FALSE(group.at(leader).leads());
  group.heal();
  group.run(seconds(40));
  EXPECT_EQ(group.leader(), other);
  EXPECT_EQ(group.at(other).members().size(), 1U);
}

TEST(GroupMember, TakesNoMoreThanItsLimitBeforeTheOthersHaveIt) {
  FakeGroup group(3, {.log_bytes = 1000});
  group.run(seconds(20));
  const std::uint8_t leader = group.leader();
  for (std::uint8_t number = 1; number <= 3; ++number)
    if (number != leader) group.cut(number);
  ASSERT_TRUE(group.propose(leader, std::string(600, 'x')).has_value());
  EXPECT_EQ(group.propose(leader, std::string(600, 'x')).error().kind, Kind::overloaded);
}

TEST(GroupMember, SilentGroupSendsHeartbeatsOnly) {
  FakeGroup group(1);
  group.run(seconds(7));
  EXPECT_EQ(group.at(1).next_deadline(), kNever) << "a group of one has nothing to do";
}

}  // namespace
}  // namespace gw::job
