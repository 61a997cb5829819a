#include "job/authority/authority.h"

#include <gtest/gtest.h>

#include "job/test/signers.h"

namespace gw::job {
namespace authority_test {

using test::charter_of;
using test::id_of;
using test::key_of;
using test::TestSigner;

constexpr std::uint8_t kHome = 1, kHost = 2, kKeeper = 3, kStranger = 4;

class Proofs : public testing::Test {
 protected:
  LeaderRoster leader(std::uint8_t number, std::uint64_t boot = 1) const {
    return LeaderRoster(charter_.id(), key_of(number), number == kHome ? home_ : stranger_, boot);
  }

  const TestSigner home_{kHome}, stranger_{kStranger};
  const Charter charter_ = charter_of(kHome);
  Authority authority_{charter_};
};

TEST_F(Proofs, TheCharterNamesTheLeader) {
  EXPECT_TRUE(authority_.is_leader(id_of(kHome)));
  EXPECT_TRUE(authority_.is_member(id_of(kHome)));
  EXPECT_FALSE(authority_.is_leader(id_of(kHost)));
  EXPECT_FALSE(authority_.is_member(id_of(kHost)));
}

TEST_F(Proofs, TheRosterNamesTheOthers) {
  LeaderRoster roster = leader(kHome);
  roster.add_host(id_of(kHost));
  roster.add_keeper(id_of(kKeeper));
  ASSERT_TRUE(authority_.take_roster(*roster.take_change(), stranger_));
  EXPECT_TRUE(authority_.may_host(id_of(kHost)));
  EXPECT_FALSE(authority_.may_keep(id_of(kHost)));
  EXPECT_TRUE(authority_.may_keep(id_of(kKeeper)));
  EXPECT_TRUE(authority_.is_member(id_of(kKeeper)));
  EXPECT_FALSE(authority_.is_member(id_of(kStranger)));
}

TEST_F(Proofs, ARosterIsSignedOnlyWhenItChanges) {
  LeaderRoster roster = leader(kHome);
  roster.add_host(id_of(kHost));
  EXPECT_TRUE(roster.take_change());
  roster.add_host(id_of(kHost));
  EXPECT_FALSE(roster.take_change());
  roster.add_keeper(id_of(kHost));
  EXPECT_TRUE(roster.take_change());
}

TEST_F(Proofs, ARosterThatTheLeaderDidNotSignIsRefused) {
  LeaderRoster forged = leader(kStranger);
  forged.add_host(id_of(kStranger));
  EXPECT_EQ(authority_.take_roster(*forged.take_change(), stranger_).error().kind, Kind::invalid);
  wire::pb::SignedRoster changed = *leader(kHome).take_change();
  wire::pb::JobRoster content;
  ASSERT_TRUE(content.ParseFromString(changed.roster()));
  content.add_members()->set_peer(id_of(kStranger).bytes());
  content.mutable_members(0)->set_host(true);
  changed.set_roster(content.SerializeAsString());
  EXPECT_EQ(authority_.take_roster(changed, stranger_).error().kind, Kind::invalid);
  EXPECT_EQ(authority_.roster_version(), 0u);
  LeaderRoster other(charter_of(kHome, 2).id(), key_of(kHome), home_, 1);
  EXPECT_EQ(authority_.take_roster(*other.take_change(), stranger_).error().kind, Kind::invalid) << "of another job";
}

TEST_F(Proofs, AnOldRosterChangesNothing) {
  LeaderRoster roster = leader(kHome);
  const wire::pb::SignedRoster empty = *roster.take_change();
  roster.add_host(id_of(kHost));
  ASSERT_TRUE(authority_.take_roster(*roster.take_change(), home_));
  ASSERT_TRUE(authority_.take_roster(empty, home_));
  EXPECT_TRUE(authority_.may_host(id_of(kHost)));
  ASSERT_TRUE(authority_.take_roster(*leader(kHome, 2).take_change(), home_)) << "of a later boot of the leader";
  EXPECT_FALSE(authority_.may_host(id_of(kHost)));
}

TEST_F(Proofs, AGrantSaysWhoWritesForAThread) {
  LeaderRoster roster = leader(kHome);
  ASSERT_TRUE(authority_.take_roster(*roster.take_change(), home_));
  const ThreadGrant given{.thread = ThreadId{5}, .epoch = 2, .keeper_generation = 9, .host = id_of(kHost), .keepers = {id_of(kKeeper)}};
  wire::pb::SignedGrant grant = roster.grant(given);
  const auto checked = authority_.check_grant(grant, stranger_);
  ASSERT_TRUE(checked) << checked.error().detail;
  EXPECT_EQ(checked->thread, ThreadId{5});
  EXPECT_EQ(checked->epoch, 2u);
  EXPECT_EQ(checked->keeper_generation, 9u);
  EXPECT_EQ(checked->host, id_of(kHost));
  EXPECT_TRUE(checked->keepers.contains(id_of(kKeeper)));
  wire::pb::ThreadGrant content;
  ASSERT_TRUE(content.ParseFromString(grant.grant()));
  content.set_epoch(1000);
  grant.set_grant(content.SerializeAsString());
  EXPECT_EQ(authority_.check_grant(grant, stranger_).error().kind, Kind::invalid);
  EXPECT_EQ(authority_.check_grant(leader(kStranger).grant(given), stranger_).error().kind, Kind::invalid);
}

TEST(Roster, HasALimit) {
  const TestSigner signer(kHome);
  LeaderRoster roster(charter_of(kHome).id(), key_of(kHome), signer, 1);
  for (std::size_t i = 0; i < wire::kMaxRosterMembers; ++i) {
    ByteWriter name;
    name.u64(i);
    ASSERT_TRUE(roster.add_host({sha256(name.take())}));
  }
  EXPECT_FALSE(roster.takes(id_of(kKeeper)));
  EXPECT_FALSE(roster.add_keeper(id_of(kKeeper)));
}

// Finding N16: a roster named every peer that the job had ever met, and each of them got all of it again with every change.
TEST(Roster, LetsGoOfPeersThatAreGoneForGood) {
  const TestSigner signer(kHome);
  LeaderRoster roster(charter_of(kHome).id(), key_of(kHome), signer, 1);
  for (const std::uint8_t peer : {2, 3, 4}) ASSERT_TRUE(roster.add_host(id_of(peer)));
  ASSERT_TRUE(roster.take_change());
  std::set<PeerId> used{id_of(2), id_of(3)};
  const auto in_use = [&](const PeerId& peer) { return used.contains(peer); };
  const Time patience = std::chrono::minutes(30);
  roster.prune(Time(0), patience, in_use);
  roster.prune(patience - Time(1), patience, in_use);
  EXPECT_EQ(roster.size(), 3u);
  EXPECT_FALSE(roster.take_change());
  used = {id_of(2)};
  roster.prune(patience, patience, in_use);
  EXPECT_EQ(roster.size(), 2u) << "one was in use until a moment ago";
  EXPECT_TRUE(roster.take_change());
  used.insert(id_of(3));
  roster.prune(2 * patience, patience, in_use);
  EXPECT_EQ(roster.size(), 2u);
}

TEST(Authorities, ForgetThoseThatNobodyHolds) {
  Authorities authorities({.recent = 2}, id_of(kKeeper));
  std::vector<JobId> jobs;
  for (std::uint64_t nonce = 0; nonce < 4; ++nonce) {
    jobs.push_back(charter_of(kHome, nonce).id());
    authorities.add(charter_of(kHome, nonce));
    if (nonce == 0) authorities.hold(jobs[0]);
  }
  EXPECT_NE(authorities.find(jobs[0]), nullptr) << "held";
  EXPECT_EQ(authorities.find(jobs[1]), nullptr);
  EXPECT_NE(authorities.find(jobs[2]), nullptr);
  authorities.release(jobs[0]);
  EXPECT_EQ(authorities.size(), 2u);
  EXPECT_EQ(authorities.find(jobs[3]), nullptr) << "not used for longest";
}

// A stranger signs charters that name itself as home, each with a roster of invented members.
TEST(Authorities, CountTheMembersOfRosters) {
  const TestSigner signer(kHome);
  const auto roster_of = [&](std::uint64_t nonce, std::size_t members) {
    LeaderRoster roster(charter_of(kHome, nonce).id(), key_of(kHome), signer, 1);
    for (std::size_t i = 0; i < members; ++i) {
      ByteWriter name;
      name.u64(i);
      roster.add_host({sha256(name.take())});
    }
    return *roster.take_change();
  };
  Authorities authorities({.members = wire::kMaxRosterMembers + 45, .members_per_leader = 50}, id_of(kKeeper));
  for (std::uint64_t nonce = 0; nonce < 2; ++nonce) authorities.add(charter_of(kHome, nonce));
  const auto job = [&](std::uint64_t nonce) { return charter_of(kHome, nonce).id(); };
  ASSERT_TRUE(authorities.take_roster(job(0), roster_of(0, 40), signer));
  EXPECT_EQ(authorities.take_roster(job(1), roster_of(1, 40), signer).error().kind, Kind::overloaded);
  EXPECT_EQ(authorities.find(job(1))->roster_version(), 0u) << "what does not fit changes nothing";
  ASSERT_TRUE(authorities.take_roster(job(1), roster_of(1, 10), signer));
  EXPECT_EQ(authorities.members(), 50u);

  const TestSigner other(kStranger);
  LeaderRoster of_other(charter_of(kStranger).id(), key_of(kStranger), other, 1);
  for (std::size_t i = 0; i < 30; ++i) {
    ByteWriter name;
    name.u64(i);
    of_other.add_host({sha256(name.take())});
  }
  authorities.hold(job(1));
  authorities.add(charter_of(kStranger));
  ASSERT_TRUE(authorities.take_roster(charter_of(kStranger).id(), *of_other.take_change(), other));
  EXPECT_EQ(authorities.find(job(0)), nullptr) << "nobody held it, and its roster was in the way";
  EXPECT_NE(authorities.find(job(1)), nullptr);
  EXPECT_EQ(authorities.members(), 40u);
}

}  // namespace authority_test
}  // namespace gw::job
