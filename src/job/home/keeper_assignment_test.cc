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

TEST_F(Keepers, AreNotTheHostIfThereIsAnotherPeer) {
  std::set<PeerId> chosen;
  for (int i = 0; i < 20; ++i) {
    place();
    EXPECT_NE(thread().keeper, id_of(kHostPeer));
    chosen.insert(*thread().keeper);
    threads_.wait(kKeptThread);
    threads_.set_keeper(kKeptThread, std::nullopt);
  }
  Authorities authorities({});
  authorities.add(charter_);
  ASSERT_TRUE(authorities.take_roster(charter_.id(), roster_.take_change().value(), signer_));
  for (const PeerId& keeper : chosen) EXPECT_TRUE(authorities.find(charter_.id())->may_keep(keeper)) << "the roster names it";
}

TEST_F(Keepers, AreTheHostIfThereIsNoOtherPeerAndAreReplacedSoon) {
  peers_.free_slots = {{id_of(kHostPeer), 1}};
  place();
  EXPECT_EQ(thread().keeper, id_of(kHostPeer));
  keepers_.tend(now_, kKeptThread, out_);
  EXPECT_EQ(told(), std::nullopt);
  peers_.free_slots[id_of(3)] = 1;
  now_ += seconds(2);
  keepers_.tend(now_, kKeptThread, out_);
  const auto change = told();
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->target(), id_of(3).bytes());
  EXPECT_EQ(change->current(), id_of(kHostPeer).bytes());
}

TEST_F(Keepers, StayTheSameWhenTheHostChanges) {
  place();
  const PeerId keeper = *thread().keeper;
  const std::uint64_t generation = thread().keeper_generation;
  threads_.wait(kKeptThread);
  place();
  EXPECT_EQ(thread().keeper, keeper);
  EXPECT_GT(thread().keeper_generation, generation) << "a generation is used once";
}

TEST_F(Keepers, ThatDieAreReplacedOnlyWhenTheNewOneIsFilled) {
  place();
  const PeerId old = *thread().keeper;
  peers_.free_slots.erase(old);
  keepers_.tend(now_, kKeptThread, out_);
  const auto change = told();
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(thread().keeper, old) << "on record until the other one has everything";
  EXPECT_FALSE(keepers_.on_filled(now_, kKeptThread, change->keeper_generation() - 1)) << "an old word";
  EXPECT_TRUE(keepers_.on_filled(now_, kKeptThread, change->keeper_generation()));
  EXPECT_EQ(thread().keeper->bytes(), change->target());
  EXPECT_FALSE(thread().placed()->target.has_value());
}

TEST_F(Keepers, ThatAreNeverFilledAreGivenUp) {
  place();
  peers_.free_slots.erase(*thread().keeper);
  peers_.free_slots[id_of(6)] = 1;
  keepers_.tend(now_, kKeptThread, out_);
  const std::string first = told()->target();
  keepers_.tend(now_ + seconds(1), kKeptThread, out_);
  EXPECT_EQ(told()->target(), first) << "repeated";
  now_ += seconds(60);
  keepers_.tend(now_, kKeptThread, out_);
  EXPECT_NE(told()->target(), first);
}

// Defect 11: a keeper that answered pings and acknowledged nothing stalled its threads without end.
TEST_F(Keepers, ThatDoNotAnswerTheHostAreReplaced) {
  place();
  keepers_.on_stalled(now_, kKeptThread, out_);
  const auto change = told();
  ASSERT_TRUE(change.has_value());
  EXPECT_NE(change->target(), thread().keeper->bytes());
  EXPECT_FALSE(change->target().empty());
}

// Simulator, rigid 100003: all peers refused to keep more of a thread, and home went from one to the next a thousand times a second.
TEST_F(Keepers, ThatAllRefuseAreReplacedOnceInAWhile) {
  place();
  keepers_.on_stalled(now_, kKeptThread, out_);
  ASSERT_TRUE(keepers_.on_filled(now_, kKeptThread, told()->keeper_generation()));
  keepers_.on_stalled(now_, kKeptThread, out_);
  EXPECT_EQ(told(), std::nullopt);
  now_ += seconds(3);
  keepers_.on_stalled(now_, kKeptThread, out_);
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
  EXPECT_EQ(thread().keeper, home);
  EXPECT_FALSE(keepers_.bring_home(now_, kKeptThread, home, out_));
}

TEST_F(Keepers, ThatCannotBeFilledAtHomeDoNotHoldASuspensionUp) {
  place();
  thread().placed()->start_state = JobMessage::BEGINNING;
  ASSERT_TRUE(keepers_.bring_home(now_, kKeptThread, id_of(kLeaderPeer), out_));
  now_ += seconds(31);
  EXPECT_FALSE(keepers_.bring_home(now_, kKeptThread, id_of(kLeaderPeer), out_));
}

TEST_F(Keepers, OfALifeBeforeAreChosenOnceMore) {
  place();
  EXPECT_FALSE(keepers_.on_filled(now_, kKeptThread, thread().keeper_generation + 5));
  EXPECT_TRUE(thread().placed()->target.has_value());
}

}  // namespace keeper_assignment_test
}  // namespace gw::job
