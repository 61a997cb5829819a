// Threads that are restored from images at their host.

#include "job/test/at_host.h"

namespace gw::job {
namespace hosted_job_test {

// Defect 6: a blob that this disk, or every disk, has lost costs a placement or the thread, never the worker.
TEST_F(AtHost, AThreadWhoseImageCannotBeReadHereIsPlacedAgain) {
  const auto kept = assign(0);
  load();
  take();
  host_->on_restore_failed(now_, {ThreadId{kept.thread()}, 1, "blob 17 was damaged", false}, out_);
  const auto told = statuses();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0].held(0).start_state(), JobMessage::GONE);
  EXPECT_EQ(told[0].failure(), "blob 17 was damaged");
  EXPECT_TRUE(host_->running().empty());
}

TEST_F(AtHost, HomeHearsThatWhatAThreadWasRestoredFromIsNoImage) {
  const auto kept = assign(0);
  load();
  take();
  host_->on_restore_failed(now_, {ThreadId{kept.thread()}, 1, "the image is damaged: a node has no pages; use another copy", true}, out_);
  std::string failure;
  for (const JobMessage& message : take())
    if (message.has_thread_failed()) failure = message.thread_failed().failure();
  EXPECT_EQ(failure, "the image is damaged: a node has no pages; use another copy");
  EXPECT_TRUE(host_->running().empty());
}

TEST_F(AtHost, HomeHearsWhatIsLostOfAnImage) {
  JobMessage::Assign restored = assignment(0);
  restored.set_restore(true);
  host_->on_assign(now_, restored, out_);
  JobMessage::ImageIs image;
  image.set_thread(restored.thread());
  image.set_epoch(1);
  image.set_keeper_generation(5);
  const Hash256 root = sha256(as_bytes("an image"));
  image.set_image_root(wire::bytes_of(root));
  host_->on_image_is(now_, id_of(kKeeper), image, out_);
  take();
  host_->on_image_change(now_, {{job_, root}, ImageTrees::Change::What::lost, "blob 17 of its image is lost"}, out_);
  std::string failure;
  for (const JobMessage& message : take())
    if (message.has_thread_failed() && message.thread_failed().kept_state_bad()) failure = message.thread_failed().failure();
  EXPECT_NE(failure.find("blob 17"), std::string::npos) << failure;
  EXPECT_EQ(images_.size(), 0u);
}

// A host that fetched a large image over a slow link was left as one that does nothing, and the next host began to fetch a second copy.
TEST_F(AtHost, EachPartOfAnImageThatComesIsProgress) {
  assign(0);
  load();
  const auto progress = [&] {
    take();
    host_->on_claim(now_, {}, out_);
    return statuses().at(0).progress();
  };
  JobMessage::Assign restored = assignment(1);
  restored.set_restore(true);
  host_->on_assign(now_, restored, out_);
  const NewImage image = test::image_of(EffectGate(ThreadId{restored.thread()}, 1), 'a');
  JobMessage::ImageIs image_is;
  image_is.set_thread(restored.thread());
  image_is.set_epoch(1);
  image_is.set_keeper_generation(5);
  image_is.set_image_root(wire::bytes_of(image.root));
  host_->on_image_is(now_, id_of(kKeeper), image_is, out_);
  const std::uint64_t before = progress();
  now_ += seconds(100);
  receive(kKeeper, image.fresh.at(image.root).str());
  const std::uint64_t after = progress();
  EXPECT_GT(after, before);
  host_->on_worker_progress(now_);
  EXPECT_GT(progress(), after) << "its parts are read for the worker";
}

}  // namespace hosted_job_test
}  // namespace gw::job
