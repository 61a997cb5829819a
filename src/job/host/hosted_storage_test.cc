#include "job/host/hosted_storage.h"

#include "job/test/at_host.h"

namespace gw::job {
namespace hosted_job_test {

// The amounts that a host stores for the job that it runs.
class StoredAtHost : public AtHost {
 protected:
  // Changes one limit on the bytes of a job, to `more` than are stored now.
  void leave_room_for(std::uint64_t more) {
    Budget::Limits limits;
    limits.job.bytes = budget_.used().bytes + more;
    budget_.set_limits(limits);
  }
  std::vector<std::uint64_t> given_back() {
    std::vector<std::uint64_t> threads;
    for (const JobMessage::Status& status : statuses())
      for (const JobMessage::Status::Held& held : status.held())
        if (held.start_state() == JobMessage::GONE) {
          threads.push_back(held.thread());
          sentence_ = status.failure();
        }
    return threads;
  }

  std::string sentence_;
};

TEST_F(StoredAtHost, CodeAndImagesAreChargedUntilTheClaimEnds) {
  const std::uint64_t code = budget_.used().bytes;
  EXPECT_EQ(code, 2 * wire::kMaxBlobBytes) << "manifest and module";
  const auto first = assign(0);
  load();
  ASSERT_TRUE(image(ThreadId{first.thread()}, 1, 'a'));
  EXPECT_EQ(budget_.used().threads, 1u);
  EXPECT_GT(budget_.used().bytes, code + wire::kPageUnit);
  host_->close(out_);
  EXPECT_EQ(budget_.used(), StoredForOthers());
}

TEST_F(StoredAtHost, AThreadWithoutRoomForItsImageGoesToAnotherPeer) {
  const auto first = assign(0);
  load();
  leave_room_for(1000);
  take();
  ASSERT_TRUE(image(ThreadId{first.thread()}, 1, 'a'));
  EXPECT_EQ(given_back(), std::vector{first.thread()});
  EXPECT_NE(sentence_.find("bytes of one job"), std::string::npos) << sentence_;
  ASSERT_FALSE(disk_.frames.empty());
  EXPECT_TRUE(disk_.frames.back().has_drop());
  EXPECT_EQ(budget_.used().threads, 0u);
}

TEST_F(StoredAtHost, AThreadBeyondTheNumberOfThreadsGoesToAnotherPeer) {
  Budget::Limits limits;
  limits.all.threads = 1;
  budget_.set_limits(limits);
  assign(0);
  take();
  const auto second = assign(1);
  EXPECT_EQ(given_back(), std::vector{second.thread()});
}

TEST_F(StoredAtHost, AJobWithoutRoomForItsCodeGoesToAnotherPeer) {
  host_.reset();
  leave_room_for(wire::kMaxBlobBytes);
  const std::string manifest = begin_claim(manifest_of(1));
  assign(0);
  receive(kHome, manifest);
  EXPECT_EQ(given_back().size(), 1u);
  EXPECT_NE(sentence_.find("bytes of one job"), std::string::npos) << sentence_;
  assign(0, 2);
  EXPECT_EQ(given_back().size(), 1u) << "later ones too";
}

}  // namespace hosted_job_test
}  // namespace gw::job
