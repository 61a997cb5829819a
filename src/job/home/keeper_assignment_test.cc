#include "job/home/keeper_assignment.h"

#include <gtest/gtest.h>

#include <set>

#include "job/test/fake_peers.h"
#include "job/test/signers.h"

namespace gw::job {
namespace keeper_assignment_test {

using std::chrono::seconds;
using test::id_of;

constexpr std::uint8_t kLeaderPeer = 1, kHostPeer = 2;
constexpr ThreadId kKeptThread{5};

class Keepers : public testing::Test {
 protected:
  Keepers() {
    peers_.free_slots = {{id_of(kHostPeer), 1}, {id_of(3), 1}, {id_of(4), 1}};
    threads_.add(kKeptThread);
  }

  HomeThread& thread() { return threads_.at(kKeptThread); }
  void place() {
    thread().epoch = 1;
    threads_.place(kKeptThread, id_of(kHostPeer), 1, now_);
    keepers_.assign(now_, kKeptThread, id_of(kHostPeer));
  }
  // The last keeper change sent to the host since the previous call.
  std::optional<JobMessage::KeeperChange> told() {
    std::optional<JobMessage::KeeperChange> change;
    for (const Action& action : out_.later)
      if (const auto* send = std::get_if<Send>(&action)) change = send->message.job().keeper_change();
    out_ = {};
    return change;
  }

  Time now_{seconds(100)};
  const Charter charter_ = test::charter_of(kLeaderPeer);
  const test::TestSigner signer_{kLeaderPeer};
  LeaderRoster roster_{charter_.id(), test::key_of(kLeaderPeer), signer_, 1};
  test::FakePeers peers_;
  ThreadTable threads_;
  Rng rng_{1};
  KeeperAssignment keepers_{{}, {charter_.id(), 1, peers_, roster_, threads_, rng_}};
  Actions out_;
};

TEST_F(Keepers, AreTwoAndNotTheHostIfThereAreOtherPeers) {
  peers_.free_slots[id_of(6)] = 1;
  std::set<PeerId> chosen;
  for (int i = 0; i < 20; ++i) {
    place();
    ASSERT_EQ(thread().keepers.size(), 2u);
    EXPECT_NE(thread().keepers[0], thread().keepers[1]);
    EXPECT_FALSE(thread().kept_at(id_of(kHostPeer)));
    chosen.insert(thread().keepers.begin(), thread().keepers.end());
    threads_.wait(kKeptThread);
    threads_.set_keepers(kKeptThread, {});
  }
  EXPECT_EQ(chosen.size(), 3u);
  Authorities authorities({});
  authorities.add(charter_);
  ASSERT_TRUE(authorities.take_roster(charter_.id(), roster_.take_change().value(), signer_));
  for (const PeerId& keeper : chosen) EXPECT_TRUE(authorities.find(charter_.id())->may_keep(keeper)) << "the roster names it";
}

TEST_F(Keepers, AreInOtherNetworksThanHostAndEachOther) {
  peers_.free_slots = {{id_of(kHostPeer), 1}, {id_of(3), 1}, {id_of(4), 1}, {id_of(5), 1}, {id_of(6), 1}};
  peers_.networks = {{id_of(kHostPeer), "a"}, {id_of(3), "a"}, {id_of(4), "b"}, {id_of(5), "b"}, {id_of(6), "c"}};
  int apart = 0;
  constexpr int kTimes = 50;
  for (int i = 0; i < kTimes; ++i) {
    place();
    std::set<std::string> networks{"a"};
    for (const PeerId& keeper : thread().keepers) networks.insert(peers_.network(keeper));
    apart += networks.size() == 3 ? 1 : 0;
    threads_.wait(kKeptThread);
    threads_.set_keepers(kKeptThread, {});
  }
  EXPECT_GT(apart, kTimes / 2) << "a few candidates are drawn at random, and one of each network is nearly always among them";
}

TEST_F(Keepers, AreRatherNear) {
  peers_.distances = {{id_of(3), std::chrono::milliseconds(1)}, {id_of(4), seconds(1)}};
  int near = 0;
  for (int i = 0; i < 50; ++i) {
    threads_.set_keepers(kKeptThread, {});
    place();
    near += thread().keepers[0] == id_of(3) ? 1 : 0;
    threads_.wait(kKeptThread);
  }
  EXPECT_GT(near, 40) << "asked first";
}

TEST_F(Keepers, AreTheHostIfThereIsNoOtherPeerAndAreReplacedSoon) {
  peers_.free_slots = {{id_of(kHostPeer), 1}};
  place();
  EXPECT_EQ(thread().keepers, std::vector{id_of(kHostPeer)});
  EXPECT_FALSE(keepers_.tend(now_, kKeptThread, out_));
  EXPECT_EQ(told(), std::nullopt);
  peers_.free_slots[id_of(3)] = 1;
  now_ += seconds(2);
  keepers_.tend(now_, kKeptThread, out_);
  const auto change = told();
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->target(), id_of(3).bytes());
  EXPECT_EQ(change->current(0), id_of(kHostPeer).bytes());
  EXPECT_TRUE(keepers_.on_filled(now_, kKeptThread, change->keeper_generation()));
  EXPECT_EQ(thread().keepers, std::vector{id_of(3)}) << "the host is none any more";
}

TEST_F(Keepers, StayTheSameWhenTheHostChanges) {
  place();
  const std::set<PeerId> keepers(thread().keepers.begin(), thread().keepers.end());
  const std::uint64_t generation = thread().keeper_generation;
  threads_.wait(kKeptThread);
  place();
  EXPECT_EQ(std::set<PeerId>(thread().keepers.begin(), thread().keepers.end()), keepers);
  EXPECT_GT(thread().keeper_generation, generation) << "a generation is used once";
}

TEST_F(Keepers, ThatAreAwayAreAskedLast) {
  place();
  const PeerId away = thread().keepers[0];
  threads_.wait(kKeptThread);
  peers_.free_slots.erase(away);
  EXPECT_TRUE(keepers_.is_there(thread())) << "the other one has everything";
  place();
  EXPECT_EQ(thread().keepers[1], away);
}

TEST_F(Keepers, ThatDidNotGiveTheStateOfARestoredThreadAreFilledAgain) {
  place();
  const PeerId source = thread().keepers[1];
  const PeerId other = thread().keepers[0];
  peers_.free_slots[id_of(6)] = 1;
  peers_.free_slots[id_of(7)] = 1;
  EXPECT_FALSE(keepers_.on_restored(kKeptThread, id_of(6))) << "no keeper of it";
  thread().placed()->source_known = false;
  EXPECT_TRUE(keepers_.on_restored(kKeptThread, source));
  EXPECT_EQ(thread().keepers, std::vector{source});
  EXPECT_FALSE(keepers_.on_restored(kKeptThread, source)) << "once";
  keepers_.tend(now_, kKeptThread, out_);
  EXPECT_EQ(told()->target(), other.bytes()) << "which has most pages";
}

TEST_F(Keepers, ThatDieLeaveTheRecordAndAnotherOneIsFilled) {
  place();
  const PeerId dead = thread().keepers[0];
  const PeerId other = thread().keepers[1];
  peers_.free_slots.erase(dead);
  peers_.free_slots[id_of(6)] = 1;
  now_ += seconds(1);
  EXPECT_TRUE(keepers_.tend(now_, kKeptThread, out_));
  const auto change = told();
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(thread().keepers, std::vector{other}) << "the new one is on record when it has everything";
  EXPECT_EQ(change->current(0), other.bytes());
  EXPECT_EQ(change->target(), id_of(6).bytes());
  EXPECT_FALSE(keepers_.on_filled(now_, kKeptThread, change->keeper_generation() - 1)) << "an old word";
  EXPECT_TRUE(keepers_.on_filled(now_, kKeptThread, change->keeper_generation()));
  EXPECT_EQ(thread().keepers, (std::vector{other, id_of(6)}));
  EXPECT_FALSE(thread().placed()->target.has_value());
}

TEST_F(Keepers, ThatAllDieStayOnRecordUntilAnotherOneIsFilled) {
  place();
  const std::vector<PeerId> dead = thread().keepers;
  peers_.free_slots = {{id_of(kHostPeer), 1}, {id_of(6), 1}};
  now_ += seconds(1);
  EXPECT_FALSE(keepers_.tend(now_, kKeptThread, out_));
  EXPECT_EQ(thread().keepers, dead) << "their disks have everything";
  ASSERT_TRUE(keepers_.on_filled(now_, kKeptThread, told()->keeper_generation()));
  EXPECT_EQ(thread().keepers, std::vector{id_of(6)});
}

TEST_F(Keepers, ThatAreNeverFilledAreGivenUp) {
  place();
  peers_.free_slots.erase(thread().keepers[0]);
  peers_.free_slots[id_of(6)] = 1;
  peers_.free_slots[id_of(7)] = 1;
  now_ += seconds(1);
  keepers_.tend(now_, kKeptThread, out_);
  const std::string first = told()->target();
  keepers_.tend(now_ + seconds(1), kKeptThread, out_);
  EXPECT_EQ(told()->target(), first) << "repeated";
  now_ += seconds(60);
  keepers_.tend(now_, kKeptThread, out_);
  EXPECT_NE(told()->target(), first);
}

TEST_F(Keepers, ThatCannotBeFilledAreNotTriedAgainAtOnce) {
  peers_.free_slots = {{id_of(kHostPeer), 1}, {id_of(3), 1}};
  place();
  peers_.free_slots[id_of(4)] = 1;
  now_ += seconds(1);
  keepers_.tend(now_, kKeptThread, out_);
  ASSERT_EQ(told()->target(), id_of(4).bytes());
  now_ += seconds(60);
  keepers_.tend(now_, kKeptThread, out_);
  EXPECT_EQ(told()->target(), "") << "the thread saves no image while one is filled";
  EXPECT_FALSE(thread().placed()->target.has_value());
  now_ += std::chrono::minutes(3);
  keepers_.tend(now_, kKeptThread, out_);
  EXPECT_EQ(told()->target(), id_of(4).bytes());
}

// Defect 11: a keeper that answered pings and acknowledged nothing stalled its threads without end.
TEST_F(Keepers, ThatDoNotAnswerTheHostAreReplaced) {
  place();
  const PeerId silent = thread().keepers[0];
  peers_.free_slots[id_of(6)] = 1;
  now_ += seconds(1);
  EXPECT_TRUE(keepers_.on_stalled(now_, kKeptThread, silent, out_));
  EXPECT_FALSE(thread().kept_at(silent));
  EXPECT_EQ(told()->target(), id_of(6).bytes());
}

// Simulator, rigid 100003: all peers refused to keep more of a thread, and home went from one to the next a thousand times a second.
TEST_F(Keepers, ThatAllRefuseAreReplacedOnceInAWhile) {
  peers_.free_slots = {{id_of(kHostPeer), 1}, {id_of(3), 1}};
  place();
  peers_.free_slots[id_of(4)] = 1;
  now_ += seconds(1);
  keepers_.on_stalled(now_, kKeptThread, id_of(3), out_);
  ASSERT_EQ(told()->target(), id_of(4).bytes());
  keepers_.on_stalled(now_, kKeptThread, id_of(4), out_);
  EXPECT_EQ(told(), std::nullopt) << "it was chosen just now";
  now_ += seconds(3);
  keepers_.on_stalled(now_, kKeptThread, id_of(4), out_);
  EXPECT_NE(told(), std::nullopt);
}

TEST_F(Keepers, AreBroughtHomeForTheLastImage) {
  place();
  const PeerId home = id_of(kLeaderPeer);
  EXPECT_FALSE(keepers_.bring_home(now_, kKeptThread, home, out_)) << "it does not run yet";
  thread().placed()->start_state = JobMessage::BEGINNING;
  ASSERT_TRUE(keepers_.bring_home(now_, kKeptThread, home, out_));
  const auto change = told();
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(PeerId::from(change->target()), home);
  ASSERT_TRUE(keepers_.bring_home(now_, kKeptThread, home, out_));
  EXPECT_EQ(told()->keeper_generation(), change->keeper_generation()) << "repeated as it was";
  ASSERT_TRUE(keepers_.on_filled(now_, kKeptThread, change->keeper_generation()));
  EXPECT_TRUE(thread().kept_at(home));
  EXPECT_EQ(thread().keepers.size(), 2u);
  EXPECT_FALSE(keepers_.bring_home(now_, kKeptThread, home, out_));
}

TEST_F(Keepers, ThatCannotBeFilledAtHomeDoNotHoldASuspensionUp) {
  place();
  thread().placed()->start_state = JobMessage::BEGINNING;
  ASSERT_TRUE(keepers_.bring_home(now_, kKeptThread, id_of(kLeaderPeer), out_));
  now_ += seconds(31);
  EXPECT_FALSE(keepers_.bring_home(now_, kKeptThread, id_of(kLeaderPeer), out_));
}

TEST_F(Keepers, OfALifeBeforeAreNotOnRecord) {
  place();
  const std::vector<PeerId> before = thread().keepers;
  EXPECT_FALSE(keepers_.on_filled(now_, kKeptThread, thread().keeper_generation + 500));
  EXPECT_EQ(thread().keepers, before);
  keepers_.send(kKeptThread, thread(), out_);
  EXPECT_EQ(told()->target(), "") << "the host may leave it out";
}

}  // namespace keeper_assignment_test
}  // namespace gw::job
