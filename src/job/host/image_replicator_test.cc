#include "job/host/image_replicator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "job/test/fake_disk.h"
#include "job/test/images.h"
#include "job/test/signers.h"

namespace gw::job {
namespace replicator_test {

using std::chrono::seconds;
using test::id_of;

constexpr std::uint8_t kHome = 1, kKeeper = 2, kOther = 3, kThird = 4;

class Replicator : public testing::Test {
 protected:
  explicit Replicator(std::vector<ImageReplicator::Keeper> keepers = {{id_of(kKeeper), 5, {}}}) : keepers_(std::move(keepers)) {}

  void determinants(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t index = first; index < first + count; ++index) {
      Determinant determinant;
      determinant.set_index(index);
      ASSERT_TRUE(replicator_.add_determinant(determinant));
    }
    replicator_.sync(now_, out_);
  }
  Hash256 image(char content, std::uint64_t after_spawn = 0) {
    SavedImage saved = hold(images_, JobId{sha256(as_bytes("a job"))}, test::image_of(gate_, content), out_).value();
    saved.after_spawn = after_spawn;
    added_ = replicator_.add_image(now_, saved, out_);
    store();
    replicator_.sync(now_, out_);
    return saved.root;
  }
  Hash256 spawned(std::uint64_t spawn) {
    const NewImage image = test::image_of(gate_.fork(child_of(kMainThread, spawn)), 'c');
    const auto hold_it = [&] { return hold(images_, job_, image, out_).value(); };
    EXPECT_TRUE(replicator_.add_spawned(now_, spawn, {hold_it(), hold_it()}, out_));
    store();
    replicator_.sync(now_, out_);
    return image.root;
  }
  void child_kept(std::uint8_t keeper, std::uint64_t generation, std::uint64_t spawn, const Hash256& root) {
    JobMessage::Kept kept;
    kept.set_keeper_generation(generation);
    kept.set_spawn(spawn);
    kept.set_image_root(wire::bytes_of(root));
    replicator_.on_kept(now_, id_of(keeper), kept, out_);
  }
  std::ptrdiff_t spawns_offered(std::uint8_t keeper) {
    return std::ranges::count_if(sent(keeper), [](const JobMessage& message) { return message.keep_image().spawn() != 0; });
  }
  // The disk has what it was given; what was sent stays.
  void store() {
    const std::vector<Action> actions = out_.now;
    for (const Action& action : actions) {
      const auto* blob = std::get_if<StoreBlob>(&action);
      if (blob == nullptr || blobs_.has(blob->hash)) continue;
      blobs_.on_stored(blob->hash);
      images_.on_stored(blob->hash, out_);
    }
  }
  ImageReplicator::Progress kept(std::uint8_t keeper, std::uint64_t generation, std::uint64_t determinants,
                                 const std::optional<Hash256>& root = std::nullopt) {
    JobMessage::Kept kept;
    kept.set_keeper_generation(generation);
    kept.set_determinants(determinants);
    if (root) kept.set_image_root(wire::bytes_of(*root));
    return replicator_.on_kept(now_, id_of(keeper), kept, out_);
  }
  ImageReplicator::Progress record(const std::vector<std::uint8_t>& current, std::uint64_t order,
                                   std::optional<std::uint8_t> target = std::nullopt) {
    JobMessage::KeeperChange change;
    change.set_keeper_generation(6);
    change.set_order(order);
    for (const std::uint8_t keeper : current) change.add_current(id_of(keeper).bytes());
    if (target) change.set_target(id_of(*target).bytes());
    return replicator_.on_keeper_change(now_, change, out_);
  }
  ImageReplicator::Progress change(std::uint64_t generation, std::uint8_t current, std::optional<std::uint8_t> target,
                                   std::uint64_t order = 0) {
    JobMessage::KeeperChange change;
    change.set_keeper_generation(generation);
    change.set_order(order);
    change.add_current(id_of(current).bytes());
    if (target) change.set_target(id_of(*target).bytes());
    return replicator_.on_keeper_change(now_, change, out_);
  }
  // The messages to that peer since the last call.
  std::vector<JobMessage> sent(std::uint8_t to) {
    std::vector<JobMessage> list;
    for (auto& [peer, message] : disk_.take(out_))
      if (peer == id_of(to)) list.push_back(std::move(message));
    return list;
  }

  Time now_{seconds(10)};
  const JobId job_{sha256(as_bytes("a job"))};
  EffectGate gate_{kMainThread};
  BlobReferences blobs_{{}, test::nobody_else};
  test::FakeDisk disk_{blobs_};
  ImageTrees images_{{}, blobs_};
  Actions out_;
  ImageReplicator::Progress added_;  // by the last image
  const std::vector<ImageReplicator::Keeper> keepers_;
  ImageReplicator replicator_{{}, {job_, id_of(kHome), images_}, {kMainThread, 1}, keepers_, {}};
};

class TwoKeepers : public Replicator {
 protected:
  TwoKeepers() : Replicator({{id_of(kKeeper), 5, {}}, {id_of(kOther), 5, {}}}) {}
};

TEST_F(Replicator, DeterminantsAreStableWhenTheKeeperHasThem) {
  determinants(0, 3);
  const auto messages = sent(kKeeper);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].keep_determinants().determinants_size(), 3);
  EXPECT_TRUE(messages[0].keep_determinants().has_grant()) << "it has not seen the grant";
  EXPECT_EQ(kept(kKeeper, 5, 2).determinants, 2u);
  EXPECT_FALSE(kept(kKeeper, 5, 1).anything()) << "a late answer";
  EXPECT_FALSE(kept(kKeeper, 4, 3).anything()) << "of another generation";
  EXPECT_FALSE(kept(kOther, 5, 3).anything()) << "of a peer that is not its keeper";
  EXPECT_FALSE(kept(kKeeper, 5, 4).anything()) << "more than there are";
  EXPECT_EQ(kept(kKeeper, 5, 3).determinants, 3u);
  EXPECT_TRUE(replicator_.settled());
}

TEST_F(Replicator, WhatIsNotAcknowledgedIsSentAgain) {
  determinants(0, 2);
  sent(kKeeper);
  replicator_.sync(now_, out_);
  EXPECT_TRUE(sent(kKeeper).empty());
  now_ = replicator_.due();
  replicator_.sync(now_, out_);
  EXPECT_EQ(sent(kKeeper).size(), 1u);
  kept(kKeeper, 5, 2);
  EXPECT_EQ(replicator_.due(), kNever);
}

// A thread that read the clock all the time never sent again what was lost, and its effects waited.
TEST_F(Replicator, NewDeterminantsDoNotPostponeWhatIsDueAgain) {
  determinants(0, 1);  // is lost
  sent(kKeeper);
  const Time due = replicator_.due();
  const auto first_of = [](const JobMessage& message) { return message.keep_determinants().determinants(0).index(); };
  for (std::uint64_t next = 1; now_ + std::chrono::milliseconds(300) < due; ++next) {
    now_ += std::chrono::milliseconds(300);
    determinants(next, 1);
    EXPECT_EQ(first_of(sent(kKeeper).at(0)), next);
  }
  EXPECT_EQ(replicator_.due(), due);
  now_ = due;
  replicator_.sync(now_, out_);
  EXPECT_EQ(first_of(sent(kKeeper).at(0)), 0u);
  EXPECT_GT(replicator_.due(), now_);
}

TEST_F(Replicator, WhatFollowsAnAcknowledgementHasItsWholeTime) {
  determinants(0, 1);
  const Time first = replicator_.due();
  kept(kKeeper, 5, 1);
  now_ += std::chrono::milliseconds(700);
  determinants(1, 1);
  EXPECT_EQ(replicator_.due() - now_, first - Time(seconds(10)));
}

TEST_F(Replicator, OneImageIsOnItsWayAndTheNewestWaits) {
  const Hash256 first = image('a');
  image('b');
  const Hash256 third = image('c');
  EXPECT_EQ(sent(kKeeper).size(), 1u);
  EXPECT_EQ(kept(kKeeper, 5, 0, first).image, first);
  const auto messages = sent(kKeeper);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].keep_image().image_root(), wire::bytes_of(third));
  EXPECT_EQ(kept(kKeeper, 5, 0, third).image, third);
  replicator_.close(out_);
  EXPECT_EQ(blobs_.size(), 0u);
}

// A thread that waits does not change; otherwise the image before it would never become stable, and no other would follow.
TEST_F(Replicator, AnImageThatItsKeeperHasIsStableAtOnce) {
  const Hash256 first = image('a');
  EXPECT_FALSE(added_.image);
  EXPECT_EQ(kept(kKeeper, 5, 0, first).image, first);
  sent(kKeeper);
  EXPECT_EQ(image('a'), first);
  EXPECT_EQ(added_.image, first);
  EXPECT_FALSE(replicator_.busy());
  EXPECT_TRUE(sent(kKeeper).empty());
  replicator_.close(out_);
  EXPECT_EQ(blobs_.size(), 0u);
}

TEST_F(Replicator, ImagesThatWaitAndAreTheSameBecomeStableTogether) {
  const Hash256 first = image('a');
  image('a');
  EXPECT_EQ(kept(kKeeper, 5, 0, first).image, first);
  EXPECT_FALSE(replicator_.busy());
  replicator_.close(out_);
  EXPECT_EQ(blobs_.size(), 0u);
}

// A keeper that asked for the image earlier would be told that this peer does not have it.
TEST_F(Replicator, AnImageIsOfferedWhenItIsOnTheDisk) {
  const SavedImage saved = hold(images_, JobId{sha256(as_bytes("a job"))}, test::image_of(gate_, 'a'), out_).value();
  replicator_.add_image(now_, saved, out_);
  const auto offers = [&] {
    return std::ranges::count_if(out_.now, [](const Action& action) { return std::holds_alternative<Send>(action); });
  };
  EXPECT_EQ(offers(), 0);
  store();
  replicator_.sync(now_, out_);
  EXPECT_EQ(offers(), 1);
}

TEST_F(Replicator, AnImageWithASpawnWaitsUntilHomeHasStoredIt) {
  image('a', 4);
  EXPECT_TRUE(sent(kKeeper).empty());
  replicator_.set_stored(now_, 4, out_);
  replicator_.sync(now_, out_);
  EXPECT_EQ(sent(kKeeper).size(), 1u);
}

// Whichever keeper home has on record when it stores the spawn has the child.
TEST_F(Replicator, AKeeperThatReplacesAnotherHasTheChildrenOfSpawnsThatAreNotStored) {
  const Hash256 child = spawned(1);
  EXPECT_FALSE(replicator_.may_spawn(1));
  EXPECT_EQ(spawns_offered(kKeeper), 1);
  child_kept(kKeeper, 5, 1, child);
  EXPECT_TRUE(replicator_.may_spawn(1));
  change(6, kKeeper, kOther);
  EXPECT_EQ(spawns_offered(kOther), 1);
  EXPECT_TRUE(sent(kHome).empty()) << "it is not filled";
  EXPECT_TRUE(replicator_.may_spawn(1)) << "the one on record has it";
  child_kept(kOther, 6, 1, child);
  EXPECT_FALSE(replicator_.may_spawn(1)) << "home may have recorded either";
  change(6, kOther, std::nullopt);
  EXPECT_TRUE(replicator_.may_spawn(1));
}

TEST_F(Replicator, AKeeperIsFilledWithoutTheChildrenThatHomeKnows) {
  child_kept(kKeeper, 5, 1, spawned(1));
  change(6, kKeeper, kOther);
  EXPECT_TRUE(sent(kHome).empty());
  replicator_.set_stored(now_, 1, out_);
  const auto told = sent(kHome);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].has_keeper_filled());
  now_ += seconds(60);
  EXPECT_FALSE(replicator_.stalled(now_)) << "nothing is waited for";
}

TEST_F(Replicator, AKeeperThatDoesNotTakeAChildIsSlow) {
  spawned(1);
  now_ += seconds(16);
  EXPECT_TRUE(replicator_.stalled(now_));
}

TEST_F(Replicator, NothingIsStableBetweenAFilledKeeperAndHomesWord) {
  determinants(0, 1);
  kept(kKeeper, 5, 1);
  change(6, kKeeper, kOther);
  sent(kOther);
  EXPECT_FALSE(kept(kOther, 6, 1).anything());
  const auto told = sent(kHome);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].keeper_filled().keeper_generation(), 6u);
  determinants(1, 1);
  EXPECT_FALSE(kept(kKeeper, 5, 2).anything());
  EXPECT_FALSE(kept(kOther, 6, 2).anything());
  EXPECT_EQ(change(6, kOther, std::nullopt).determinants, 2u);
  EXPECT_FALSE(kept(kKeeper, 5, 2).anything()) << "it is no keeper any more";
}

TEST_F(Replicator, AKeeperIsFilledWithTheStableImageBeforeHomeHearsOfIt) {
  const Hash256 first = image('a');
  kept(kKeeper, 5, 0, first);
  change(6, kKeeper, kOther);
  EXPECT_EQ(sent(kOther).size(), 1u);
  kept(kOther, 6, 0);
  EXPECT_TRUE(sent(kHome).empty());
  kept(kOther, 6, 0, first);
  EXPECT_EQ(sent(kHome).size(), 1u);
  now_ = replicator_.due();
  replicator_.sync(now_, out_);
  EXPECT_EQ(sent(kHome).size(), 1u) << "until home answers";
}

// Defect 11: a keeper that answers pings and never acknowledges.
TEST_F(Replicator, AKeeperThatDoesNotAnswerOrRefusesIsStalled) {
  determinants(0, 1);
  EXPECT_FALSE(replicator_.stalled(now_));
  EXPECT_TRUE(replicator_.stalled(now_ + seconds(16)));
  kept(kKeeper, 5, 1);
  EXPECT_FALSE(replicator_.stalled(now_ + seconds(16)));
  JobMessage::Kept refusal;
  refusal.set_keeper_generation(5);
  refusal.set_determinants(1);
  refusal.set_refused("it keeps as much as it may");
  replicator_.on_kept(now_, id_of(kKeeper), refusal, out_);
  EXPECT_TRUE(replicator_.stalled(now_));
}

// A keeper that had lost the thread, or was full, answered each time, and was never replaced.
TEST_F(Replicator, AKeeperThatAnswersAndHasNoMoreIsStalled) {
  determinants(0, 2);
  kept(kKeeper, 5, 1);
  for (int second = 0; second < 16; ++second) {
    EXPECT_FALSE(replicator_.stalled(now_)) << second;
    now_ += seconds(1);
    kept(kKeeper, 5, second % 2 == 0 ? 1 : 0);
  }
  EXPECT_TRUE(replicator_.stalled(now_));
  kept(kKeeper, 5, 2);
  EXPECT_FALSE(replicator_.stalled(now_ + seconds(60))) << "it has everything";
}

TEST_F(Replicator, AnImageThatComesMayTakeLongButNotForEver) {
  image('a');
  JobMessage::Kept comes;
  comes.set_keeper_generation(5);
  for (std::uint64_t coming = 1; coming < 100; ++coming) {
    now_ += seconds(10);
    comes.set_coming(coming);
    replicator_.on_kept(now_, id_of(kKeeper), comes, out_);
    ASSERT_FALSE(replicator_.stalled(now_ + seconds(10)));
  }
  now_ += std::chrono::minutes(30);
  comes.set_coming(1000);
  replicator_.on_kept(now_, id_of(kKeeper), comes, out_);
  EXPECT_TRUE(replicator_.stalled(now_));
}

// --- two keepers

TEST_F(TwoKeepers, WhatOneHasIsStableWhenTheOtherHasItToo) {
  determinants(0, 2);
  EXPECT_EQ(sent(kKeeper).size(), 1u);
  EXPECT_FALSE(kept(kKeeper, 5, 2).anything());
  EXPECT_EQ(kept(kOther, 5, 1).determinants, 1u);
  EXPECT_EQ(kept(kOther, 5, 2).determinants, 2u);
  const Hash256 first = image('a');
  EXPECT_FALSE(kept(kOther, 5, 2, first).image);
  EXPECT_FALSE(replicator_.settled());
  EXPECT_EQ(kept(kKeeper, 5, 2, first).image, first);
  EXPECT_TRUE(replicator_.settled());
}

TEST_F(TwoKeepers, ASpawnLeavesWhenBothHaveTheChild) {
  const Hash256 child = spawned(1);
  child_kept(kKeeper, 5, 1, child);
  EXPECT_FALSE(replicator_.may_spawn(1));
  child_kept(kOther, 5, 1, child);
  EXPECT_TRUE(replicator_.may_spawn(1));
}

TEST_F(TwoKeepers, TheOneThatIsSilentIsNamed) {
  determinants(0, 1);
  kept(kKeeper, 5, 1);
  EXPECT_EQ(replicator_.stalled(now_ + seconds(16)), id_of(kOther));
}

TEST_F(TwoKeepers, OneThatIsTakenOffTheRecordHoldsNothingUp) {
  determinants(0, 2);
  kept(kKeeper, 5, 2);
  EXPECT_EQ(change(5, kKeeper, std::nullopt, 9).determinants, 2u);
  EXPECT_FALSE(kept(kOther, 5, 2).anything());
}

TEST_F(TwoKeepers, AnOlderWordAboutThemChangesNothing) {
  change(5, kKeeper, std::nullopt, 9);
  change(6, kKeeper, kThird, 10);
  determinants(0, 1);
  kept(kThird, 6, 1);
  kept(kKeeper, 5, 1);
  EXPECT_EQ(record({kKeeper, kThird}, 11).determinants, 1u);
  determinants(1, 1);
  change(6, kKeeper, std::nullopt, 9);
  EXPECT_FALSE(kept(kKeeper, 5, 2).anything()) << "the third one is on record too";
  EXPECT_EQ(kept(kThird, 6, 2).determinants, 2u);
}

TEST_F(TwoKeepers, OneThatHomeGaveUpIsFilledNoMore) {
  kept(kKeeper, 5, 0);
  kept(kOther, 5, 0);
  record({kKeeper}, 9, kThird);
  EXPECT_TRUE(replicator_.busy());
  record({kKeeper}, 10);
  EXPECT_FALSE(replicator_.busy());
}

TEST_F(Replicator, AGapInDeterminantsIsTheWorkersFault) {
  Determinant determinant;
  determinant.set_index(1);
  EXPECT_EQ(replicator_.add_determinant(determinant).error().kind, Kind::invalid);
}

}  // namespace replicator_test
}  // namespace gw::job
