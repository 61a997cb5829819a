#include "job/host/hosted_job.h"

#include "job/test/at_host.h"

namespace gw::job {
namespace hosted_job_test {

// A claim that ran nothing was kept for as long as images of any job came.
TEST_F(AtHost, BlobsOfOtherJobsDoNotMakeAClaimBusy) {
  const Time before = host_->idle_since();
  now_ += seconds(30);
  const std::string bytes = "of another job";
  ASSERT_TRUE(blobs_.want(now_, sha256(as_bytes(bytes)), JobId{sha256(as_bytes("another job"))}, id_of(kHome), out_));
  host_->on_blob_stored(now_, disk_.receive(id_of(kHome), bytes, out_), out_);
  EXPECT_EQ(host_->idle_since(), before);
}

TEST_F(AtHost, AWorkerIsStartedForTheFirstThreadAndNotBefore) {
  EXPECT_TRUE(disk_.workers.empty());
  assign(0);
  take();
  EXPECT_EQ(disk_.workers.size(), 1u);
  load();
  take();
  EXPECT_TRUE(disk_.frames.back().has_start());
  host_->close(out_);
  EXPECT_EQ(blobs_.size(), 0u);
}

TEST_F(AtHost, NoMoreThreadsRunThanThereAreSlots) {
  const auto first = assign(0);
  assign(1);
  load();
  EXPECT_EQ(host_->slots_used(), 1u);
  ASSERT_TRUE(effect(first, 1, true));
  stored(first, 1);
  EXPECT_EQ(host_->slots_used(), 1u) << "the next one has its slot";
  EXPECT_EQ(host_->running()[0].thread, thread_of_task(1, 3));
}

// Every assignment was once answered by a list of all threads.
TEST_F(AtHost, AnAssignmentIsAnsweredByTheThreadItNames) {
  assign(0);
  take();
  assign(1);
  const auto answers = statuses();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_FALSE(answers[0].full());
  ASSERT_EQ(answers[0].held_size(), 1);
  EXPECT_EQ(answers[0].held(0).thread(), thread_of_task(1, 3).value());
}

TEST_F(AtHost, AFullStatusIsSentOnRequestAndNowAndThen) {
  assign(0);
  assign(1);
  take();
  JobMessage::ClaimName claim;
  host_->on_claim(now_, claim, out_);
  auto answers = statuses();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].held_size(), 0) << "an acknowledgement";
  EXPECT_FALSE(answers[0].full());
  claim.set_want_full(true);
  host_->on_claim(now_, claim, out_);
  answers = statuses();
  EXPECT_TRUE(answers.at(0).full());
  EXPECT_EQ(answers.at(0).held_size(), 2);
  now_ = host_->next_deadline();
  EXPECT_LE(now_, seconds(106));
  host_->on_tick(now_, out_);
  EXPECT_TRUE(statuses().at(0).full());
}

TEST_F(AtHost, AnEpochIsLivedOnce) {
  const auto first = assign(0);
  load();
  JobMessage::ThreadName name;
  name.set_thread(first.thread());
  name.set_epoch(1);
  host_->on_drop(now_, name, out_);
  take();
  assign(0);
  const auto answers = statuses();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].held(0).start_state(), JobMessage::GONE);
  ASSERT_TRUE(effect(first, 1)) << "the worker has not heard of the drop yet";
  assign(0, 2);
  EXPECT_EQ(host_->running().size(), 1u);
}

TEST_F(AtHost, AWorkerThatSpeaksForAThreadItWasNotGivenBreaksARule) {
  assign(0);
  load();
  EXPECT_EQ(effect(assignment(1), 1).error().kind, Kind::invalid);
  EXPECT_EQ(effect(assignment(0, 2), 1).error().kind, Kind::invalid);
}

TEST_F(AtHost, EffectsAreRepeatedUntilHomeHasThem) {
  const auto first = assign(0);
  load();
  take();
  ASSERT_TRUE(effect(first, 1));
  EXPECT_EQ(take().size(), 1u);
  now_ = host_->next_deadline();
  host_->on_tick(now_, out_);
  const auto again = take();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].effects().effects_size(), 1);
  stored(first, 1);
  take();
  EXPECT_TRUE(disk_.frames.back().has_stored());
}

TEST_F(AtHost, ASpawnLeavesWhenTheKeeperHasTheChildsFirstImage) {
  const auto parent = assign(0);
  load();
  ASSERT_TRUE(image(ThreadId{parent.thread()}, 1, 'a'));
  take();
  ASSERT_TRUE(image_of_spawn(parent, 1, image_of_child(parent, 1)));
  store_images();
  ASSERT_TRUE(spawn(parent, 1));
  for (const JobMessage& message : take()) EXPECT_FALSE(message.has_effects());
  EXPECT_EQ(host_->running().size(), 1u) << "home places the child";
  child_kept(parent, 1);
  const auto sent = take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].effects().effects(0).has_spawn());
}

TEST_F(AtHost, AChildsImageIsOfferedInTheNameOfItsParent) {
  const auto parent = assign(0);
  load();
  const NewImage child = image_of_child(parent, 1);
  ASSERT_TRUE(image_of_spawn(parent, 1, child));
  const std::vector<JobMessage> sent = store_images();
  const auto offer = std::ranges::find_if(sent, &JobMessage::has_keep_image);
  ASSERT_NE(offer, sent.end());
  EXPECT_EQ(offer->keep_image().thread(), parent.thread());
  EXPECT_EQ(offer->keep_image().spawn(), 1u);
  EXPECT_EQ(offer->keep_image().image_root(), wire::bytes_of(child.root));
}

// Such a spawn may come out of an image that another host has made up: this worker is not at fault.
TEST_F(AtHost, ASpawnWithoutAnImageOfItsChildEndsTheThread) {
  const auto parent = assign(0);
  load();
  take();
  EXPECT_TRUE(spawn(parent, 1));
  const auto sent = take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_NE(sent[0].thread_failed().failure().find("no image of the child"), std::string::npos);
  EXPECT_TRUE(host_->running().empty());
}

TEST_F(AtHost, TheImageOfAChildIsThatOfItsSpawn) {
  const auto other = assign(1);
  load();
  EXPECT_EQ(image_of_spawn(other, 2, image_of_child(other, 1)).error().kind, Kind::invalid) << "it is not of the child of this spawn";
  ASSERT_TRUE(image_of_spawn(other, 1, image_of_child(other, 1)));
  EXPECT_EQ(image_of_spawn(other, 1, image_of_child(other, 1)).error().kind, Kind::invalid) << "there is one already";
}

TEST_F(AtHost, WhatHomeHasStoredNeedsNoImageInAReplay) {
  JobMessage::Assign again = assignment(0, 2);
  wire::write({{kLogStream, 1}}, *again.mutable_stored());
  host_->on_assign(now_, again, out_);
  load();
  take();
  EXPECT_TRUE(spawn(again, 1));
  const auto sent = take();
  ASSERT_EQ(sent.size(), 1u) << "home drops it by its number";
  EXPECT_TRUE(sent[0].has_effects());
}

// The next image of the thread leaves pages to the last one that was saved, which was the child's.
TEST_F(AtHost, TheImageOfAChildStaysUntilTheNextImageOfItsParent) {
  const auto parent = assign(0);
  load();
  const NewImage child = image_of_child(parent, 1);
  ASSERT_TRUE(image_of_spawn(parent, 1, child));
  ASSERT_TRUE(spawn(parent, 1));
  take();
  child_kept(parent, 1);
  stored(parent, 1, kLogStream);
  EXPECT_TRUE(images_.holds({host_->claim().job, child.root}));
  ASSERT_TRUE(image(ThreadId{parent.thread()}, 1, 'b'));
  take();
  EXPECT_FALSE(images_.holds({host_->claim().job, child.root}));
}

TEST_F(AtHost, AnImageThatLeavesAPageToNobodyEndsTheWorker) {
  const auto thread = assign(0);
  load();
  NewImage image = test::image_of(EffectGate(ThreadId{thread.thread()}, 1), 'a');
  for (const auto& [node, pages] : image.fresh_nodes) image.fresh.erase(pages.front());
  FromWorker frame;
  frame.mutable_image()->set_thread(thread.thread());
  frame.mutable_image()->set_id(wire::bytes_of(image.root));
  EXPECT_EQ(host_->on_frame(now_, frame, image, out_).error().kind, Kind::corrupt);
}

TEST_F(AtHost, ImagesOfChildrenOfWhichHomeHasNotHeardLeaveWithTheirParent) {
  const auto parent = assign(0);
  load();
  ASSERT_TRUE(image_of_spawn(parent, 1, image_of_child(parent, 1)));
  ASSERT_TRUE(image_of_spawn(parent, 2, image_of_child(parent, 2)));
  JobMessage::ThreadName name;
  name.set_thread(parent.thread());
  name.set_epoch(1);
  host_->on_drop(now_, name, out_);
  take();
  EXPECT_EQ(images_.size(), 0u);
}

TEST_F(AtHost, AWorkerThatDiedTakesItsThreadsAndAnotherOneIsStarted) {
  assign(0);
  assign(1);
  load();
  take();
  host_->on_worker_died(now_, "out of memory", {}, out_);
  const auto answers = statuses();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(answers[0].full());
  EXPECT_EQ(answers[0].failure(), "out of memory");
  ASSERT_EQ(answers[0].held_size(), 1);
  EXPECT_EQ(disk_.workers.size(), 2u);
}

// Finding N5: a worker that could not load was started again at once, without limit.
TEST_F(AtHost, AWorkerThatDoesNotLoadIsStartedAgainAfterAPauseAndNotForEver) {
  assign(0);
  disk_.take(out_);
  const std::size_t first = disk_.workers.size();
  ASSERT_EQ(first, 1u);
  host_->on_worker_died(now_, "it has no room for 300 threads", {}, out_);
  disk_.take(out_);
  EXPECT_EQ(disk_.workers.size(), first) << "not at once";
  Time last = now_;
  std::vector<Time> pauses;
  for (int i = 0; i < 1000; ++i) {
    now_ += std::chrono::milliseconds(500);
    host_->on_tick(now_, out_);
    const std::size_t before = disk_.workers.size();
    disk_.take(out_);
    if (disk_.workers.size() == before) continue;
    pauses.push_back(now_ - std::exchange(last, now_));
    host_->on_worker_died(now_, "it has no room for 300 threads", {}, out_);
  }
  ASSERT_GE(pauses.size(), 2u);
  EXPECT_LE(disk_.workers.size(), 8u);
  EXPECT_GT(pauses[1], pauses[0]);
  take();
  host_->on_assign(now_, assignment(1), out_);
  const auto answers = statuses();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].held(0).start_state(), JobMessage::GONE) << "it takes no more threads";
  EXPECT_EQ(answers[0].failure(), "it has no room for 300 threads");
}

// --- suspension

TEST_F(AtHost, AThreadIsSuspendedWhenItsLastImageIsKeptAndItsEffectsAreStored) {
  const auto first = assign(0);
  load();
  ASSERT_TRUE(image(ThreadId{first.thread()}, 1, 'a'));
  ASSERT_TRUE(effect(first, 1));
  suspend(first);
  take();
  EXPECT_TRUE(disk_.frames.back().has_suspend());
  ASSERT_TRUE(image(ThreadId{first.thread()}, 1, 'b', FromWorker::Image::SUSPENDED));
  take();
  EXPECT_TRUE(host_->running().empty()) << "the worker runs it no more";
  kept(ThreadId{first.thread()}, 'b');
  EXPECT_FALSE(says_suspended()) << "an effect is not stored";
  stored(first, 1);
  EXPECT_TRUE(says_suspended());
  now_ = host_->next_deadline();
  host_->on_tick(now_, out_);
  EXPECT_TRUE(says_suspended()) << "until home drops it";
  host_->on_worker_died(now_, "out of memory", {}, out_);
  const auto answers = statuses();
  ASSERT_EQ(answers.back().held_size(), 1) << "what is kept is not lost with the worker";
}

TEST_F(AtHost, AThreadWhoseLastImageDoesNotBecomeStableGoesOnFromTheOneBefore) {
  const auto first = assign(0);
  load();
  ASSERT_TRUE(image(ThreadId{first.thread()}, 1, 'a'));
  suspend(first);
  ASSERT_TRUE(image(ThreadId{first.thread()}, 1, 'b', FromWorker::Image::SUSPENDED));
  take();
  bool gone = false;
  for (const Time until = now_ + seconds(20); now_ < until && !gone;) {
    now_ = std::max(now_, host_->next_deadline());
    host_->on_tick(now_, out_);
    for (const JobMessage::Status& status : statuses())
      for (const JobMessage::Status::Held& held : status.held()) gone = gone || held.start_state() == JobMessage::GONE;
  }
  EXPECT_TRUE(gone);
}

// A thread that reads the clock, forks and is suspended before its keeper has the reading: the spawn is in the outbox of its last image.
class SuspendedAfterAFork : public AtHost {
 protected:
  SuspendedAfterAFork() {
    load();
    EXPECT_TRUE(image(id_, 1, 'a'));
    EXPECT_TRUE(gate_.given(Determinant::CLOCK, 0, 17));
    FromWorker frame;
    frame.mutable_determinants()->set_thread(id_.value());
    frame.mutable_determinants()->set_epoch(1);
    for (Determinant& determinant : gate_.take_new_determinants()) *frame.mutable_determinants()->add_determinants() = determinant;
    EXPECT_TRUE(host_->on_frame(now_, frame, {}, out_));
    Effect spawn;
    spawn.mutable_spawn()->set_child(child_of(id_, 1).value());
    gate_.emit(std::move(spawn));
    suspend(parent_);
  }
  // The numbers of the spawns that were sent to home.
  std::vector<std::uint64_t> spawns() {
    std::vector<std::uint64_t> list;
    for (const JobMessage& message : take())
      for (const Effect& effect : message.effects().effects())
        if (effect.has_spawn()) list.push_back(effect.sequence());
    return list;
  }

  const JobMessage::Assign parent_ = assign(0);
  const ThreadId id_{parent_.thread()};
  EffectGate gate_{id_, 1};
};

// The worker forgets the thread with its last image, and the spawn was never sent: the image waited for it, and the thread lost its work.
TEST_F(SuspendedAfterAFork, TheSpawnLeavesWhenItsDeterminantsAreStable) {
  ASSERT_TRUE(image_of_spawn(parent_, 1, image_of_child(parent_, 1)));
  ASSERT_TRUE(image(gate_, 'b', FromWorker::Image::SUSPENDED));
  store_images();
  child_kept(parent_, 1);
  EXPECT_TRUE(spawns().empty()) << "a replay may read another time, and not fork";
  kept(id_, 1, std::nullopt);
  EXPECT_EQ(spawns(), std::vector<std::uint64_t>{1});
  stored(parent_, 1, kLogStream);
  const auto sent = take();
  const Hash256 last = test::image_of(gate_, 'b').root;
  ASSERT_TRUE(std::ranges::any_of(sent, [&](const auto& one) { return one.keep_image().image_root() == wire::bytes_of(last); }));
  kept(id_, 1, last);
  EXPECT_TRUE(says_suspended());
}

TEST_F(SuspendedAfterAFork, TheSpawnLeavesAtOnceIfItsDeterminantsBecameStableMeanwhile) {
  ASSERT_TRUE(image_of_spawn(parent_, 1, image_of_child(parent_, 1)));
  store_images();
  child_kept(parent_, 1);
  kept(id_, 1, std::nullopt);
  EXPECT_TRUE(spawns().empty()) << "the worker has not sent it";
  ASSERT_TRUE(image(gate_, 'b', FromWorker::Image::SUSPENDED));
  EXPECT_EQ(spawns(), std::vector<std::uint64_t>{1});
}

TEST_F(SuspendedAfterAFork, ASpawnThatTheWorkerHasSentIsNotSentTwice) {
  ASSERT_TRUE(image_of_spawn(parent_, 1, image_of_child(parent_, 1)));
  store_images();
  ASSERT_TRUE(spawn(parent_, 1));
  ASSERT_TRUE(image(gate_, 'b', FromWorker::Image::SUSPENDED));
  child_kept(parent_, 1);
  EXPECT_EQ(spawns(), std::vector<std::uint64_t>{1});
}

TEST_F(SuspendedAfterAFork, ASpawnThatTheWorkerSendsAfterItsLastImageIsNotSentTwice) {
  ASSERT_TRUE(image_of_spawn(parent_, 1, image_of_child(parent_, 1)));
  ASSERT_TRUE(image(gate_, 'b', FromWorker::Image::SUSPENDED));
  store_images();
  child_kept(parent_, 1);
  kept(id_, 1, std::nullopt);
  EXPECT_EQ(spawns(), std::vector<std::uint64_t>{1});
  EXPECT_TRUE(spawn(parent_, 1));
  stored(parent_, 1, kLogStream);
  EXPECT_TRUE(spawn(parent_, 1));
  EXPECT_TRUE(spawns().empty());
  kept(id_, 1, test::image_of(gate_, 'b').root);
  EXPECT_TRUE(says_suspended());
}

TEST_F(SuspendedAfterAFork, ASpawnInTheLastImageWithoutAnImageOfItsChildEndsTheThread) {
  take();
  EXPECT_TRUE(image(gate_, 'b', FromWorker::Image::SUSPENDED));
  const auto sent = take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_NE(sent[0].thread_failed().failure().find("no image of the child"), std::string::npos);
}

TEST_F(AtHost, AThreadThatDoesNotRunIsSuspendedAtOnce) {
  const auto first = assign(0);
  suspend(first);
  EXPECT_TRUE(says_suspended());
  suspend(first);
  const auto answers = statuses();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].held(0).start_state(), JobMessage::GONE);
}

TEST_F(AtHost, AClaimThatIsDrainedTakesNoMoreThreads) {
  const auto first = assign(0);
  assign(1);
  load();
  ASSERT_TRUE(image(ThreadId{first.thread()}, 1, 'a'));
  take();
  host_->drain(now_, out_);
  EXPECT_FALSE(host_->drained());
  auto answers = statuses();
  EXPECT_TRUE(answers.back().draining());
  EXPECT_EQ(answers.back().held_size(), 2) << "it is said before the first of them leaves";
  assign(2);
  answers = statuses();
  EXPECT_EQ(answers.at(0).held(0).start_state(), JobMessage::GONE);
  ASSERT_TRUE(image(ThreadId{first.thread()}, 1, 'b', FromWorker::Image::SUSPENDED));
  kept(ThreadId{first.thread()}, 'b');
  EXPECT_TRUE(says_suspended());
  JobMessage::ThreadName name;
  name.set_thread(first.thread());
  name.set_epoch(1);
  host_->on_drop(now_, name, out_);
  EXPECT_TRUE(host_->drained());
}

TEST_F(AtHost, AThreadThatCannotBeSavedGoesOn) {
  const auto first = assign(0);
  load();
  suspend(first);
  FromWorker frame;
  frame.mutable_failed()->set_thread(first.thread());
  frame.mutable_failed()->set_epoch(1);
  frame.mutable_failed()->set_error("it did not come to a poll");
  ASSERT_TRUE(host_->on_frame(now_, frame, {}, out_));
  take();
  EXPECT_EQ(host_->running().size(), 1u);
  suspend(first);
  take();
  EXPECT_TRUE(disk_.frames.back().has_suspend()) << "home asks again";
}

TEST_F(AtHost, AThreadBeginsWithTheImageOfItsTask) {
  host_->close(out_);
  wire::pb::Manifest content = manifest_of(1);
  content.clear_array();
  *content.mutable_image() = Manifest::describe(as_bytes("an image"));
  claim(content);
  JobMessage::Assign first = assignment(0);
  first.set_thread(kMainThread.value());
  host_->on_assign(now_, first, out_);
  load();
  take();
  const auto starts = [&] {
    return std::ranges::count_if(disk_.frames, [](const wire::pb::ToWorker& frame) { return frame.has_restore() || frame.has_start(); });
  };
  EXPECT_EQ(starts(), 0) << "its image is not here yet";
  receive(kHome, "an image");
  take();
  ASSERT_EQ(starts(), 1);
  EXPECT_TRUE(disk_.frames.back().restore().begins());
  EXPECT_EQ(disk_.frames.back().restore().thread(), kMainThread.value());
}

// The gate of such a thread waits for an image before it records anything new, so no frame of the worker would ever cause a checkpoint.
TEST_F(AtHost, AThreadThatGoesOnWithAllDeterminantsThatItMayHaveIsCheckpointed) {
  JobMessage::Assign again = assignment(0, 2);
  again.set_restore(true);
  host_->on_assign(now_, again, out_);
  load();
  JobMessage::ImageIs kept;
  kept.set_thread(again.thread());
  kept.set_epoch(2);
  kept.set_keeper_generation(5);
  for (std::size_t i = 0; i < HostedThread::Config().determinants; ++i) kept.add_determinants()->set_index(i);
  host_->on_image_is(now_, id_of(kKeeper), kept, out_);
  take();
  const auto asked = std::ranges::find_if(disk_.frames, &wire::pb::ToWorker::has_checkpoint);
  ASSERT_NE(asked, disk_.frames.end());
  EXPECT_EQ(asked->checkpoint().thread(), again.thread());
  EXPECT_TRUE(std::prev(asked)->has_start()) << "the worker knows the thread when it is asked";
}

// A thread that reads the clock and never says anything else.
class ClockReader : public AtHost {
 protected:
  ClockReader() {
    load();
    EXPECT_TRUE(image(ThreadId{assigned_.thread()}, 1, 'a'));
  }
  // The worker reports so many readings.
  void read(std::size_t times) {
    FromWorker frame;
    frame.mutable_determinants()->set_thread(assigned_.thread());
    frame.mutable_determinants()->set_epoch(1);
    for (std::size_t i = 0; i < times; ++i) frame.mutable_determinants()->add_determinants()->set_index(next_++);
    ASSERT_TRUE(host_->on_frame(now_, frame, {}, out_));
  }
  void keep_all() { kept(ThreadId{assigned_.thread()}, next_, std::nullopt); }
  void fail_save() {
    FromWorker frame;
    frame.mutable_failed()->set_thread(assigned_.thread());
    frame.mutable_failed()->set_epoch(1);
    ASSERT_TRUE(host_->on_frame(now_, frame, {}, out_));
  }
  std::size_t checkpoints() {
    take();
    return static_cast<std::size_t>(std::ranges::count_if(disk_.frames, &wire::pb::ToWorker::has_checkpoint));
  }
  void pass_retry() {
    now_ += HostedThread::Config().retry;
    host_->on_tick(now_, out_);
  }

  const JobMessage::Assign assigned_ = assign(0);
  std::size_t next_ = 0;
};

TEST_F(ClockReader, IsCheckpointedSoonAfterADiskThatWasFullHasRoom) {
  blobs_.set_disk_full(true);
  read(HostedThread::Config().determinants);
  keep_all();
  EXPECT_EQ(checkpoints(), 0u);
  blobs_.set_disk_full(false);
  pass_retry();
  EXPECT_EQ(checkpoints(), 1u);
}

TEST_F(ClockReader, IsAskedAgainForAnImageThatItWaitsForAndThatCouldNotBeSaved) {
  read(HostedThread::Config().determinants);
  EXPECT_EQ(checkpoints(), 1u);
  keep_all();
  fail_save();
  pass_retry();
  EXPECT_EQ(checkpoints(), 2u);
}

TEST_F(AtHost, ATaskThatTheManifestDoesNotHaveIsRefused) {
  JobMessage::Assign assign = assignment(0);
  assign.set_thread(99);
  assign.set_task(3);
  host_->on_assign(now_, assign, out_);
  load();
  take();
  EXPECT_TRUE(host_->running().empty());
  ASSERT_FALSE(disk_.events.empty());
  EXPECT_TRUE(std::holds_alternative<PeerRefused>(disk_.events.back()));
}

}  // namespace hosted_job_test
}  // namespace gw::job
