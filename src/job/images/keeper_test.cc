#include "job/images/keeper.h"

#include <gtest/gtest.h>

#include "job/records.h"
#include "job/test/fake_disk.h"
#include "job/test/fake_peers.h"
#include "job/test/images.h"
#include "job/test/signers.h"

namespace gw::job {
namespace keeper_test {

using std::chrono::hours;
using std::chrono::seconds;
using test::id_of;

constexpr std::uint8_t kHome = 1, kHost = 2, kNextHost = 3;

// A keeper whose disk answers at once.
class AtKeeper : public testing::Test {
 protected:
  AtKeeper() { authorities_.add(charter_); }

  Keeper::Bearer bearer(std::uint8_t host, std::uint64_t epoch, std::uint64_t generation = 5) const {
    return {id_of(host), epoch, generation};
  }
  // The answers of the keeper.
  std::vector<JobMessage> take() {
    std::vector<JobMessage> list;
    for (auto& [peer, message] : disk_.take(out_)) list.push_back(std::move(message));
    return list;
  }
  JobMessage::Kept keep_determinants(const Keeper::Bearer& who, std::uint64_t first, std::uint64_t count) {
    JobMessage::KeepDeterminants message;
    message.set_thread(kMainThread.value());
    for (std::uint64_t index = first; index < first + count; ++index) message.add_determinants()->set_index(index);
    keeper_->on_keep_determinants(now_, charter_.id(), who, message, out_);
    const auto answers = take();
    return answers.empty() ? JobMessage::Kept() : answers[0].kept();
  }
  void offer(const Keeper::Bearer& who, const NewImage& image, std::uint64_t determinants) {
    JobMessage::KeepImage message;
    message.set_thread(kMainThread.value());
    message.set_image_root(wire::bytes_of(image.root));
    message.set_determinants(determinants);
    keeper_->on_keep_image(now_, charter_.id(), who, message, out_);
  }
  // The host sends what the keeper lacks.
  JobMessage::Kept fetch(const Keeper::Bearer& who, const NewImage& image) {
    disk_.deliver(who.host, image, images_, out_);
    for (const ImageTrees::Change& change : images_.take_changes()) keeper_->on_image_change(change, out_);
    const auto answers = take();
    return answers.empty() ? JobMessage::Kept() : answers.back().kept();
  }
  JobMessage::ImageIs want(const Keeper::Bearer& who) {
    JobMessage::WantImage message;
    message.set_thread(kMainThread.value());
    keeper_->on_want_image(now_, charter_.id(), who, message, out_);
    const auto answers = take();
    return answers.empty() ? JobMessage::ImageIs() : answers[0].image_is();
  }
  KeeperRecords records() const {
    KeeperRecords found;
    for (const auto& [bytes, value] : disk_.records) {
      const RecordKey key = RecordKey::decode(bytes).value();
      if (key.kind == RecordKind::kept) EXPECT_TRUE(found.kept.ParseFromString(value));
      if (key.kind == RecordKind::determinants) EXPECT_TRUE(found.determinants[key.number].ParseFromString(value));
    }
    return found;
  }
  void tick(Time time) {
    now_ += time;
    keeper_->on_tick(now_, out_);
  }

  Time now_{seconds(100)};
  const Charter charter_ = test::charter_of(kHome);
  const Keeper::Name name_{charter_.id(), kMainThread};
  test::FakePeers peers_;
  BlobReferences blobs_{{}, test::nobody_else};
  ImageTrees images_{{}, blobs_};
  test::FakeDisk disk_{blobs_};
  Authorities authorities_{{}};
  Keeper::Config config_;
  Budget budget_{{}};
  Actions out_;
  std::optional<Keeper> keeper_{std::in_place, config_, Keeper::Environment{peers_, images_, authorities_, budget_}};
  const NewImage image_ = test::image_of(EffectGate(kMainThread), 'a');
};

TEST_F(AtKeeper, AcknowledgesDeterminantsWithoutGapsAndDuplicates) {
  EXPECT_EQ(keep_determinants(bearer(kHost, 1), 0, 3).determinants(), 3u);
  EXPECT_EQ(keep_determinants(bearer(kHost, 1), 1, 3).determinants(), 4u) << "two of them are known";
  EXPECT_EQ(keep_determinants(bearer(kHost, 1), 9, 1).determinants(), 4u) << "a gap";
  EXPECT_EQ(records().determinants.size(), 2u);
}

// The keeper dropped determinants above the limit without saying so, and the host waited without end.
TEST_F(AtKeeper, SaysThatItKeepsNoMoreDeterminants) {
  config_.determinants = 3;
  keeper_.emplace(config_, Keeper::Environment{peers_, images_, authorities_, budget_});
  const JobMessage::Kept kept = keep_determinants(bearer(kHost, 1), 0, 5);
  EXPECT_EQ(kept.determinants(), 3u);
  EXPECT_NE(kept.refused(), "");
}

// Simulator: two keepers. A run that goes on from what the other keeper has must find nothing of the run before it here.
TEST_F(AtKeeper, ARunThatGoesOnFromAnotherKeeperBeginsHereWithThePagesOnly) {
  keep_determinants(bearer(kHost, 1), 0, 3);
  offer(bearer(kHost, 1), image_, 1);
  fetch(bearer(kHost, 1), image_);
  EXPECT_EQ(want(bearer(kNextHost, 2, 6)).image_root(), wire::bytes_of(image_.root)) << "asked, and another keeper was faster";
  now_ += config_.answer_every;
  EXPECT_EQ(want(bearer(kHost, 3, 7)).determinants_size(), 2) << "nothing was written meanwhile";
  EXPECT_EQ(keep_determinants(bearer(kHost, 3, 8), 0, 1).determinants(), 1u) << "a new generation";
  const std::size_t blobs = blobs_.size();
  EXPECT_GT(blobs, 0u) << "the pages stay";
  offer(bearer(kHost, 3, 8), image_, 1);
  for (const ImageTrees::Change& change : images_.take_changes()) keeper_->on_image_change(change, out_);
  EXPECT_EQ(take().back().kept().image_root(), wire::bytes_of(image_.root)) << "nothing was fetched";
  EXPECT_EQ(blobs_.size(), blobs);
}

TEST_F(AtKeeper, AHostThatAskedAndWritesKeepsWhatIsHere) {
  keep_determinants(bearer(kHost, 1), 0, 3);
  want(bearer(kNextHost, 2, 6));
  EXPECT_EQ(keep_determinants(bearer(kNextHost, 2, 6), 3, 1).determinants(), 4u);
  EXPECT_EQ(keep_determinants(bearer(kNextHost, 2, 7), 4, 1).determinants(), 5u) << "the same run under a new generation";
}

// A host that repeats its question made the keeper build an answer of more than a megabyte each time.
TEST_F(AtKeeper, RepeatsAnImageOnlyAfterAWhile) {
  keep_determinants(bearer(kHost, 1), 0, 3);
  EXPECT_EQ(want(bearer(kNextHost, 2)).determinants_size(), 3);
  EXPECT_EQ(want(bearer(kNextHost, 2)).thread(), 0u) << "no answer";
  now_ += config_.answer_every;
  EXPECT_EQ(want(bearer(kNextHost, 2)).determinants_size(), 3) << "the answer may have been lost";
  EXPECT_EQ(want(bearer(kHost, 3)).determinants_size(), 3) << "another host";
}

TEST_F(AtKeeper, AnImageIsKeptWhenEverythingOfItIsHere) {
  keep_determinants(bearer(kHost, 1), 0, 3);
  offer(bearer(kHost, 1), image_, 2);
  EXPECT_EQ(want(bearer(kHost, 1)).image_root(), "") << "not before it is here";
  offer(bearer(kHost, 1), image_, 2);
  const JobMessage::Kept kept = fetch(bearer(kHost, 1), image_);
  EXPECT_EQ(kept.image_root(), wire::bytes_of(image_.root));
  EXPECT_EQ(kept.determinants(), 3u);
  const JobMessage::ImageIs image = want(bearer(kNextHost, 2));
  EXPECT_EQ(image.in_image(), 2u);
  ASSERT_EQ(image.determinants_size(), 1) << "those after the image";
  EXPECT_EQ(image.determinants(0).index(), 2u);
}

TEST_F(AtKeeper, AnImageReplacesTheOneBefore) {
  offer(bearer(kHost, 1), image_, 0);
  fetch(bearer(kHost, 1), image_);
  const NewImage second = test::image_of(EffectGate(kMainThread), 'b');
  offer(bearer(kHost, 1), second, 0);
  EXPECT_EQ(fetch(bearer(kHost, 1), second).image_root(), wire::bytes_of(second.root));
  EXPECT_EQ(blobs_.size(), 3u) << "the blobs of the old one are gone";
}

// A host that asks for the image in a new epoch has fenced the host of the older epoch.
TEST_F(AtKeeper, AnOlderEpochIsRefused) {
  keep_determinants(bearer(kHost, 1), 0, 1);
  EXPECT_EQ(want(bearer(kNextHost, 2)).determinants_size(), 1);
  keep_determinants(bearer(kHost, 1), 1, 1);
  EXPECT_TRUE(take().empty());
  now_ += config_.answer_every;
  EXPECT_EQ(want(bearer(kNextHost, 2)).determinants_size(), 1);
}

// Home may name the keeper on record once more, with a higher generation: until that one is filled, its image is the only one.
TEST_F(AtKeeper, AHigherGenerationOfTheSameLifeLosesNothing) {
  keep_determinants(bearer(kHost, 1, 5), 0, 3);
  offer(bearer(kHost, 1, 5), image_, 2);
  fetch(bearer(kHost, 1, 5), image_);
  keep_determinants(bearer(kHost, 1, 6), 3, 1);
  const JobMessage::ImageIs image = want(bearer(kNextHost, 2, 6));
  EXPECT_EQ(image.image_root(), wire::bytes_of(image_.root));
  EXPECT_EQ(image.determinants_size(), 2);
}

TEST_F(AtKeeper, RemembersAfterARestart) {
  keep_determinants(bearer(kHost, 1), 0, 1);
  offer(bearer(kHost, 1), image_, 1);
  fetch(bearer(kHost, 1), image_);
  keep_determinants(bearer(kHost, 1), 1, 2);
  const KeeperRecords found = records();
  BlobReferences blobs{{}, test::nobody_else};
  ImageTrees images{{}, blobs};
  Authorities authorities{{}};
  Keeper again(config_, {peers_, images, authorities, budget_});
  const auto read = [&](const Hash256& hash) { return disk_.find(hash); };
  ASSERT_TRUE(again.recover(now_, name_, found, read, out_));
  keeper_.emplace(config_, Keeper::Environment{peers_, images, authorities, budget_});
  ASSERT_TRUE(keeper_->recover(now_, name_, found, read, out_));
  const JobMessage::ImageIs image = want(bearer(kNextHost, 2));
  EXPECT_EQ(image.image_root(), wire::bytes_of(image_.root));
  EXPECT_EQ(image.determinants_size(), 2);
}

TEST_F(AtKeeper, AnImageThatWasLostFromTheDiskIsNotKept) {
  offer(bearer(kHost, 1), image_, 0);
  fetch(bearer(kHost, 1), image_);
  BlobReferences blobs{{}, test::nobody_else};
  ImageTrees images{{}, blobs};
  Authorities authorities{{}};
  Keeper again(config_, {peers_, images, authorities, budget_});
  EXPECT_EQ(again.recover(now_, name_, records(), [](const Hash256&) { return std::nullopt; }, out_).error().kind, Kind::corrupt);
  EXPECT_EQ(again.size(), 0u);
}

// Defect 3: every host with a grant could fill the disk.
TEST_F(AtKeeper, WhatIsOverBudgetIsRefusedWithASentence) {
  Budget::Limits limits;
  limits.job.determinants = 2;
  limits.job.bytes = 100;
  budget_.set_limits(limits);
  const JobMessage::Kept some = keep_determinants(bearer(kHost, 1), 0, 3);
  EXPECT_EQ(some.determinants(), 2u) << "as many as there is room for";
  EXPECT_EQ(some.refused(), "this peer stores no more than 2 determinants of one job");
  offer(bearer(kHost, 1), image_, 0);
  const JobMessage::Kept kept = fetch(bearer(kHost, 1), image_);
  EXPECT_EQ(kept.image_root(), "");
  EXPECT_EQ(kept.refused(), "this peer stores no more than 100 bytes of one job");
  EXPECT_EQ(blobs_.size(), 0u) << "nothing of it stays";
}

TEST_F(AtKeeper, ThreadsBeyondTheBudgetAreRefused) {
  budget_.set_limits({.all = {}});
  EXPECT_FALSE(keep_determinants(bearer(kHost, 1), 0, 1).refused().empty());
  EXPECT_EQ(keeper_->size(), 0u);
}

// Finding N14: the host waited for an answer that never came.
TEST_F(AtKeeper, SaysThatItHasNothingAlsoWhenThereIsNoRoomForTheThread) {
  budget_.set_limits({.all = {}});
  const JobMessage::ImageIs nothing = want(bearer(kHost, 3));
  EXPECT_EQ(nothing.thread(), kMainThread.value());
  EXPECT_EQ(nothing.epoch(), 3u);
  EXPECT_EQ(nothing.keeper_generation(), bearer(kHost, 3).keeper_generation);
  EXPECT_EQ(nothing.image_root(), "");
  EXPECT_EQ(keeper_->size(), 0u);
}

TEST_F(AtKeeper, TheBudgetCountsWhatIsKeptAndNothingElse) {
  keep_determinants(bearer(kHost, 1), 0, 3);
  offer(bearer(kHost, 1), image_, 2);
  fetch(bearer(kHost, 1), image_);
  const StoredForOthers used = budget_.used_by(id_of(kHome));
  EXPECT_EQ(used.threads, 1u);
  EXPECT_EQ(used.blobs, 3u);
  std::uint64_t bytes = 0;
  for (const auto& [hash, blob] : image_.fresh) bytes += blob.size();
  EXPECT_EQ(used.bytes, bytes);
  EXPECT_EQ(used.determinants, 1u);
  EXPECT_EQ(records().kept.bytes(), used.bytes);
  JobMessage::Forget forget;
  forget.add_threads()->set_thread(kMainThread.value());
  forget.mutable_threads(0)->set_epoch(1);
  forget.mutable_threads(0)->set_keeper_generation(5);
  keeper_->on_forget(charter_.id(), forget, out_);
  EXPECT_EQ(budget_.used(), StoredForOthers());
}

// Defect 5: ten minutes without home cost everything that was kept.
TEST_F(AtKeeper, WaitsForDaysForAHomeThatIsAway) {
  keep_determinants(bearer(kHost, 1), 0, 1);
  for (int day = 0; day < 6; ++day) tick(hours(24));
  EXPECT_EQ(keeper_->size(), 1u);
  peers_.free_slots[id_of(kHome)] = 0;
  tick(hours(24));
  peers_.free_slots.clear();
  for (int day = 0; day < 6; ++day) tick(hours(24));
  EXPECT_EQ(keeper_->size(), 1u) << "home was back in between";
  tick(hours(49));
  EXPECT_EQ(keeper_->size(), 0u);
}

TEST_F(AtKeeper, ForgetsWhatHomeDoesNotNeedAndNothingElse) {
  keep_determinants(bearer(kHost, 2), 0, 1);
  tick(config_.ask_every);
  const auto questions = take();
  ASSERT_EQ(questions.size(), 1u);
  JobMessage::Forget forget;
  *forget.mutable_threads() = questions[0].ask_kept().threads();
  JobMessage::Forget older = forget;
  older.mutable_threads(0)->set_epoch(1);
  keeper_->on_forget(charter_.id(), older, out_);
  EXPECT_EQ(keeper_->size(), 1u) << "it was written to since";
  keeper_->on_forget(charter_.id(), forget, out_);
  EXPECT_EQ(keeper_->size(), 0u);
  take();
  EXPECT_TRUE(disk_.records.empty());
}

// --- children

class WithAChild : public AtKeeper {
 protected:
  void offer_child(const Keeper::Bearer& who, const NewImage& image) {
    JobMessage::KeepImage message;
    message.set_thread(kMainThread.value());
    message.set_spawn(kSpawn);
    message.set_image_root(wire::bytes_of(image.root));
    keeper_->on_keep_image(now_, charter_.id(), who, message, out_);
  }
  JobMessage::ImageIs want_child(const Keeper::Bearer& who) {
    JobMessage::WantImage message;
    message.set_thread(child_.value());
    keeper_->on_want_image(now_, charter_.id(), who, message, out_);
    const auto answers = take();
    return answers.empty() ? JobMessage::ImageIs() : answers[0].image_is();
  }

  static constexpr std::uint64_t kSpawn = 3;
  const ThreadId child_ = child_of(kMainThread, kSpawn);
  const Keeper::Name child_name_{charter_.id(), child_};
  const NewImage first_ = test::image_of(EffectGate(kMainThread).fork(child_), 'c');
};

TEST_F(WithAChild, TheFirstImageOfAChildIsKeptInTheNameOfItsParent) {
  offer_child(bearer(kHost, 2), first_);
  const JobMessage::Kept kept = fetch(bearer(kHost, 2), first_);
  EXPECT_EQ(kept.thread(), kMainThread.value());
  EXPECT_EQ(kept.epoch(), 2u);
  EXPECT_EQ(kept.spawn(), kSpawn);
  EXPECT_EQ(kept.image_root(), wire::bytes_of(first_.root));
  EXPECT_FALSE(keeper_->bearer(child_name_)) << "nobody writes for it without a grant of its own";
  EXPECT_EQ(want_child(bearer(kNextHost, 2, 6)).image_root(), wire::bytes_of(first_.root));
  EXPECT_EQ(keeper_->bearer(child_name_)->host, id_of(kNextHost));
}

TEST_F(WithAChild, ItsParentCannotWriteToItOnceItHasHadAHost) {
  offer_child(bearer(kHost, 1), first_);
  fetch(bearer(kHost, 1), first_);
  want_child(bearer(kNextHost, 1, 6));
  offer_child(bearer(kHost, 9, 9), test::image_of(EffectGate(kMainThread).fork(child_), 'x'));
  take();
  EXPECT_EQ(keeper_->bearer(child_name_)->host, id_of(kNextHost));
  now_ += config_.answer_every;
  EXPECT_EQ(want_child(bearer(kNextHost, 1, 6)).image_root(), wire::bytes_of(first_.root));
}

TEST_F(WithAChild, TheChildOfALaterEpochReplacesThatOfAnEarlierOne) {
  offer_child(bearer(kHost, 1), first_);
  fetch(bearer(kHost, 1), first_);
  const NewImage later = test::image_of(EffectGate(kMainThread).fork(child_), 'x');
  offer_child(bearer(kNextHost, 2), later);
  EXPECT_EQ(fetch(bearer(kNextHost, 2), later).image_root(), wire::bytes_of(later.root));
  offer_child(bearer(kHost, 1), first_);
  EXPECT_TRUE(take().empty()) << "a zombie";
  EXPECT_EQ(want_child(bearer(kHost, 2, 6)).image_root(), wire::bytes_of(later.root));
}

// Seed 1383 of `suspended`: the parent had ended and was forgotten, and an older host of it replaced the image of its child.
TEST_F(WithAChild, AZombieOfAParentThatIsForgottenDoesNotReplaceTheChild) {
  const NewImage later = test::image_of(EffectGate(kMainThread).fork(child_), 'x');
  offer_child(bearer(kNextHost, 2, 6), later);
  fetch(bearer(kNextHost, 2, 6), later);
  JobMessage::Forget forget;
  JobMessage::KeptName& parent = *forget.add_threads();
  parent.set_thread(kMainThread.value());
  parent.set_epoch(2);
  parent.set_keeper_generation(6);
  keeper_->on_forget(charter_.id(), forget, out_);
  offer_child(bearer(kHost, 1, 5), first_);
  take();
  EXPECT_EQ(want_child(bearer(kHost, 2, 7)).image_root(), wire::bytes_of(later.root));
}

TEST_F(WithAChild, HomeIsToldWhoseChildItIsAndMayForgetIt) {
  offer_child(bearer(kHost, 2), first_);
  fetch(bearer(kHost, 2), first_);
  tick(config_.ask_every);
  const auto questions = take();
  ASSERT_EQ(questions.size(), 1u);
  const auto asked = questions[0].ask_kept().threads();
  const auto child = std::ranges::find(asked, child_.value(), &JobMessage::KeptName::thread);
  ASSERT_NE(child, asked.end());
  EXPECT_EQ(child->parent(), kMainThread.value());
  EXPECT_EQ(child->epoch(), 2u);
  JobMessage::Forget forget;
  *forget.add_threads() = *child;
  want_child(bearer(kNextHost, 2, 5));
  keeper_->on_forget(charter_.id(), forget, out_);
  EXPECT_EQ(keeper_->size(), 2u) << "it has had a host since";
}

TEST_F(WithAChild, AKeeperThatWasRestartedStillHasTheChild) {
  offer_child(bearer(kHost, 2), first_);
  fetch(bearer(kHost, 2), first_);
  KeeperRecords found;
  for (const auto& [bytes, value] : disk_.records)
    if (const RecordKey key = RecordKey::decode(bytes).value(); key.thread == child_) ASSERT_TRUE(found.kept.ParseFromString(value));
  keeper_.emplace(config_, Keeper::Environment{peers_, images_, authorities_, budget_});
  ASSERT_TRUE(keeper_->recover(
      now_, child_name_, found,
      [&](const Hash256& hash) -> std::optional<std::string> {
        const auto blob = first_.fresh.find(hash);
        return blob == first_.fresh.end() ? std::nullopt : std::optional(blob->second.str());
      },
      out_));
  EXPECT_FALSE(keeper_->bearer(child_name_));
  EXPECT_EQ(want_child(bearer(kNextHost, 2, 6)).image_root(), wire::bytes_of(first_.root));
}

}  // namespace keeper_test
}  // namespace gw::job
