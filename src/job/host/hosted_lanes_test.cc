// The lanes of a hosted job: what runs while jobs of several users take turns.

#include "job/test/at_host.h"

namespace gw::job {
namespace hosted_job_test {

class AtSharedHost : public AtHost {
 protected:
  std::vector<bool> pauses() {
    std::vector<bool> list;
    for (const Action& action : out_.now)
      if (const auto* pause = std::get_if<PauseWorker>(&action)) list.push_back(pause->paused);
    return list;
  }
};

TEST_F(AtSharedHost, AJobHasNoDemandBeforeItsWorkerIsReady) {
  EXPECT_FALSE(host_->demand());
  assign(0);
  EXPECT_FALSE(host_->demand()) << "loading is not paused";
  load();
  ASSERT_TRUE(host_->demand());
  EXPECT_EQ(host_->demand()->lanes, 1u);
  EXPECT_EQ(host_->demand()->least, 1u);
  assign(1);
  EXPECT_EQ(host_->demand()->lanes, 1u) << "no more than its slots";
}

TEST_F(AtSharedHost, WithoutALaneItsWorkerIsPausedAndGoesOnWithTheNext) {
  assign(0);
  load();
  take();
  host_->set_lanes(now_, 0, out_);
  EXPECT_EQ(pauses(), std::vector{true});
  EXPECT_EQ(host_->lanes(), 0u);
  take();
  host_->set_lanes(now_, 0, out_);
  EXPECT_TRUE(pauses().empty()) << "once";
  host_->set_lanes(now_, 1, out_);
  EXPECT_EQ(pauses(), std::vector{false});
  EXPECT_EQ(host_->lanes(), 1u);
}

TEST_F(AtSharedHost, AWorkerThatHasToLeaveGoesOn) {
  assign(0);
  load();
  host_->set_lanes(now_, 0, out_);
  take();
  host_->drain(now_, out_);
  EXPECT_EQ(pauses(), std::vector{false}) << "it could not save its threads";
  EXPECT_FALSE(host_->demand());
}

TEST_F(AtSharedHost, AWorkerThatDiedWhilePausedIsReplacedByOneThatRuns) {
  assign(0);
  load();
  host_->set_lanes(now_, 0, out_);
  host_->on_worker_died(now_, "killed", {}, out_);
  EXPECT_EQ(host_->lanes(), 1u);
}

TEST_F(AtSharedHost, AJobThatAsksForTooMuchIsGivenBackWithTheReason) {
  std::string manifest(as_text(Manifest::encode(manifest_of(3))));
  host_.emplace(HostedJob::Config(),
                HostedJob::Environment{id_of(kSelf),
                                       blobs_,
                                       swarm_,
                                       images_,
                                       next_worker_,
                                       budget_,
                                       {},
                                       [](const Manifest&) { return std::optional<std::string>("too much"); }},
                HostedJob::Claim{id_of(kHome), job_, 8, 1, sha256(as_bytes(manifest))});
  host_->begin(now_, out_);
  assign(0);
  take();
  host_->on_blob_stored(now_, disk_.receive(id_of(kHome), manifest, out_), out_);
  std::vector<JobMessage::Status> told = statuses();
  for (const Hash256& hash : std::exchange(disk_.loads, {})) host_->on_loaded(now_, hash, disk_.find(hash), out_);
  for (const JobMessage::Status& status : statuses()) told.push_back(status);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().failure(), "too much");
  ASSERT_EQ(told.back().held_size(), 1);
  EXPECT_TRUE(told.back().held(0).no_room()) << "the program is not to blame";
  EXPECT_TRUE(disk_.workers.empty());
}

}  // namespace hosted_job_test
}  // namespace gw::job
