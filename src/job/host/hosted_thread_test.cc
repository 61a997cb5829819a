#include "job/host/hosted_thread.h"

#include <gtest/gtest.h>

#include "job/test/fake_disk.h"
#include "job/test/images.h"
#include "job/test/signers.h"

namespace gw::job {
namespace hosted_thread_test {

using std::chrono::seconds;
using test::id_of;

constexpr std::uint8_t kHome = 1, kKeeper = 3, kSecondKeeper = 9;

class OneThread : public testing::Test {
 protected:
  OneThread() {
    assign_.set_thread(kMainThread.value());
    assign_.set_epoch(4);
    wire::write(StreamMarks{{kHomeStream, 2}}, *assign_.mutable_stored());
    assign_.add_keepers(id_of(kKeeper).bytes());
    assign_.set_keeper_generation(5);
    assign_.set_restore(true);
  }

  HostedThread make() { return {environment_, assign_, now_}; }
  JobMessage::ImageIs image_is(const std::optional<Hash256>& root) const {
    JobMessage::ImageIs image;
    image.set_keeper_generation(5);
    if (root) image.set_image_root(wire::bytes_of(*root));
    Determinant& determinant = *image.add_determinants();
    determinant.set_index(0);
    return image;
  }

  Time now_{seconds(10)};
  JobMessage::Assign assign_;
  const JobId job_{sha256(as_bytes("a job"))};
  BlobReferences blobs_{{}, test::nobody_else};
  Swarm swarm_{{}, blobs_, test::nobody_else, test::no_distance, Rng(1)};
  ImageTrees images_{{}, blobs_};
  test::FakeDisk disk_{blobs_};
  Budget budget_{{}};
  HostedStorage storage_{&budget_, {job_, id_of(kHome), {}}};
  CodeStaging code_{{}, blobs_, swarm_, storage_, {job_, id_of(kHome), sha256(as_bytes("manifest"))}};
  ImageFetches fetches_{images_};
  std::uint64_t status_ = 1;
  HostedThread::Config config_;
  HostedThread::Environment environment_{config_, job_, id_of(kHome), code_, images_, fetches_, status_};
  Actions out_;
};

TEST_F(OneThread, WithoutAnythingAtItsKeeperItWaitsForASlot) {
  assign_.set_restore(false);
  const HostedThread thread = make();
  EXPECT_EQ(thread.start_state(), JobMessage::QUEUED);
  EXPECT_TRUE(thread.begins());
  EXPECT_EQ(thread.due(), kNever);
}

TEST_F(OneThread, AsksItsKeeperUntilItAnswers) {
  HostedThread thread = make();
  EXPECT_EQ(thread.start_state(), JobMessage::NOT_YET);
  thread.on_due(now_, out_);
  auto sent = disk_.take(out_);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].first, id_of(kKeeper));
  EXPECT_EQ(sent[0].second.want_image().epoch(), 4u);
  EXPECT_EQ(thread.due(), now_ + config_.retry);
  now_ = thread.due();
  thread.on_due(now_, out_);
  EXPECT_EQ(disk_.take(out_).size(), 1u);
}

TEST_F(OneThread, OnlyItsKeeperInThisGenerationIsBelieved) {
  HostedThread thread = make();
  JobMessage::ImageIs image = image_is(std::nullopt);
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kHome), image, out_));
  EXPECT_EQ(thread.start_state(), JobMessage::NOT_YET);
  image.set_keeper_generation(4);
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kKeeper), image, out_));
  EXPECT_EQ(thread.start_state(), JobMessage::NOT_YET);
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kKeeper), image_is(std::nullopt), out_));
  EXPECT_EQ(thread.start_state(), JobMessage::QUEUED);
}

TEST_F(OneThread, FetchesItsImageBeforeItWaitsForASlot) {
  HostedThread thread = make();
  const NewImage image = test::image_of(EffectGate(kMainThread), 'a');
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kKeeper), image_is(image.root), out_));
  EXPECT_EQ(thread.start_state(), JobMessage::NOT_YET);
  disk_.deliver(id_of(kKeeper), image, images_, out_);
  std::vector<ImageFetches::Done> done;
  for (const ImageTrees::Change& change : images_.take_changes())
    for (ImageFetches::Done& one : fetches_.on_change(change, out_)) done.push_back(std::move(one));
  ASSERT_EQ(done.size(), 1u);
  thread.on_fetched(*done[0].root);
  EXPECT_EQ(thread.start_state(), JobMessage::QUEUED);
  EXPECT_FALSE(thread.begins());
  thread.close(out_);
  EXPECT_EQ(blobs_.size(), 0u);
}

TEST_F(OneThread, AThreadThatIsClosedWhileItFetchesHoldsNothing) {
  HostedThread thread = make();
  const NewImage image = test::image_of(EffectGate(kMainThread), 'a');
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kKeeper), image_is(image.root), out_));
  thread.close(out_);
  EXPECT_EQ(blobs_.size(), 0u);
  EXPECT_EQ(fetches_.size(), 0u);
}

// The thread began from the state that was left, and behaved differently from its earlier run.
TEST_F(OneThread, DoesNotBeginWithLessThanHomeKnowsOf) {
  assign_.set_determinants(2);
  HostedThread thread = make();
  const Status status = thread.on_image_is(now_, id_of(kKeeper), image_is(std::nullopt), out_);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, Kind::guest_fault);
  EXPECT_NE(status.error().detail.find("lost"), std::string::npos);
}

// --- two keepers

TEST_F(OneThread, AsksBothKeepersAndGoesOnFromTheFirstAnswer) {
  assign_.add_keepers(id_of(kSecondKeeper).bytes());
  HostedThread thread = make();
  thread.on_due(now_, out_);
  EXPECT_EQ(disk_.take(out_).size(), 2u);
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kSecondKeeper), image_is(std::nullopt), out_));
  EXPECT_EQ(thread.start_state(), JobMessage::QUEUED);
  EXPECT_EQ(thread.source(), id_of(kSecondKeeper));
  JobMessage::ImageIs more = image_is(std::nullopt);
  more.add_determinants()->set_index(1);
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kKeeper), more, out_));
  EXPECT_EQ(thread.source(), id_of(kSecondKeeper)) << "the other one has something that was never stable";
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kKeeper), image_is(std::nullopt), out_));
  EXPECT_EQ(thread.source(), std::nullopt) << "both have the same: both stay on record";
}

TEST_F(OneThread, AKeeperThatHasNothingCountsOnlyIfTheOtherHasNothingToo) {
  assign_.add_keepers(id_of(kSecondKeeper).bytes());
  JobMessage::ImageIs nothing = image_is(std::nullopt);
  nothing.clear_determinants();
  HostedThread thread = make();
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kKeeper), nothing, out_));
  EXPECT_EQ(thread.start_state(), JobMessage::NOT_YET);
  HostedThread other = make();
  ASSERT_TRUE(other.on_image_is(now_, id_of(kKeeper), nothing, out_));
  ASSERT_TRUE(other.on_image_is(now_, id_of(kSecondKeeper), image_is(std::nullopt), out_));
  EXPECT_EQ(other.source(), id_of(kSecondKeeper));
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kSecondKeeper), nothing, out_));
  EXPECT_EQ(thread.start_state(), JobMessage::QUEUED);
  EXPECT_EQ(thread.source(), std::nullopt);
}

TEST_F(OneThread, AKeeperThatIsAwayIsNotWaitedForWithoutEnd) {
  assign_.add_keepers(id_of(kSecondKeeper).bytes());
  JobMessage::ImageIs nothing = image_is(std::nullopt);
  nothing.clear_determinants();
  HostedThread thread = make();
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kKeeper), nothing, out_));
  now_ += config_.keeper_patience;
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kKeeper), nothing, out_));
  EXPECT_EQ(thread.source(), id_of(kKeeper));
}

TEST_F(OneThread, AnImageThatDoesNotComeIsAskedForAgain) {
  assign_.add_keepers(id_of(kSecondKeeper).bytes());
  HostedThread thread = make();
  const NewImage image = test::image_of(EffectGate(kMainThread), 'a');
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kKeeper), image_is(image.root), out_));
  disk_.take(out_);
  now_ = thread.due();
  thread.on_due(now_, out_);
  EXPECT_EQ(disk_.take(out_).size(), 2u);
  ASSERT_TRUE(thread.on_image_is(now_, id_of(kSecondKeeper), image_is(image.root), out_));
  EXPECT_EQ(thread.source(), id_of(kSecondKeeper));
  thread.close(out_);
  EXPECT_EQ(blobs_.size(), 0u);
}

TEST_F(OneThread, AForkedThreadHasNoBeginningOfItsOwn) {
  assign_.set_forked(true);
  HostedThread thread = make();
  EXPECT_EQ(thread.on_image_is(now_, id_of(kKeeper), image_is(std::nullopt), out_).error().kind, Kind::guest_fault);
}

}  // namespace hosted_thread_test
}  // namespace gw::job
