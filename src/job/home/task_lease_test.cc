#include "job/home/task_lease.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kClaim = 7;
constexpr std::uint64_t kPlenty = 1u << 20;

class TaskLeaseTest : public testing::Test {
 protected:
  void give(std::uint32_t count) {
    const JobMessage message = lease_.give(now_, config_, kClaim, {next_, count});
    next_ += count;
    last_batch_ = message.task_batch().number();
  }
  void report(std::uint32_t results) {
    JobMessage::TaskReport report;
    report.set_claim(kClaim);
    report.set_number(lease_.reports() + 1);
    report.set_batches(last_batch_);
    ASSERT_TRUE(lease_.on_report(report));
    for (std::uint32_t i = 0; i < results; ++i) ASSERT_TRUE(lease_.remove(done_++));
    lease_.on_results(now_, config_, results);
  }
  // Gives the host what it is to have, and lets it end all of it after `each` per task.
  void round(Time each) {
    const std::uint32_t wanted = lease_.wanted(config_, 2, kPlenty);
    if (wanted > 0) give(wanted);
    const auto held = static_cast<std::uint32_t>(lease_.held().size());
    now_ += each * held;
    report(held);
  }

  TaskLease::Config config_;
  TaskLease lease_;
  Time now_{0};
  std::uint32_t next_ = 0, done_ = 0;
  std::uint64_t last_batch_ = 0;
};

TEST_F(TaskLeaseTest, BeginsWithTwoTasksPerSlot) {
  EXPECT_EQ(lease_.wanted(config_, 3, kPlenty), 6u);
  EXPECT_EQ(lease_.wanted(config_, 0, kPlenty), 0u) << "threads use all slots";
  give(6);
  EXPECT_EQ(lease_.wanted(config_, 3, kPlenty), 0u);
}

TEST_F(TaskLeaseTest, GrowsToTheLeadOfAFastHost) {
  for (int i = 0; i < 30; ++i) round(std::chrono::microseconds(20));
  EXPECT_NEAR(lease_.wanted(config_, 2, kPlenty), 10'000, 1000) << "200 ms of tasks of 20 µs";
}

TEST_F(TaskLeaseTest, StaysSmallForLongTasks) {
  for (int i = 0; i < 30; ++i) round(milliseconds(1000));
  EXPECT_EQ(lease_.wanted(config_, 2, kPlenty), 4u);
}

TEST_F(TaskLeaseTest, HoldsNoMoreThanItsShareAtTheEnd) {
  for (int i = 0; i < 30; ++i) round(std::chrono::microseconds(20));
  EXPECT_EQ(lease_.wanted(config_, 2, 100), 100u);
  EXPECT_EQ(lease_.wanted(config_, 2, 0), 2u) << "a task for each slot";
}

TEST_F(TaskLeaseTest, WithoutPrefetchEachFreeSlotGetsOneTask) {
  config_.prefetch = false;
  EXPECT_EQ(lease_.wanted(config_, 4, kPlenty), 4u);
  give(4);
  report(1);
  EXPECT_EQ(lease_.wanted(config_, 4, kPlenty), 1u) << "a slot that is free does not wait for a second one";
  EXPECT_EQ(lease_.wanted(config_, 2, kPlenty), 0u) << "threads use the others";
}

TEST_F(TaskLeaseTest, RepeatsBatchesUntilTheyAreAcknowledged) {
  give(2);
  give(2);
  EXPECT_TRUE(lease_.resend(now_, config_).empty());
  now_ += config_.retry;
  EXPECT_EQ(lease_.resend(now_, config_).size(), 2u);
  JobMessage::TaskReport acknowledgement;
  acknowledgement.set_batches(1);
  EXPECT_FALSE(lease_.on_report(acknowledgement)) << "it has no content";
  now_ += config_.retry;
  const auto again = lease_.resend(now_, config_);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].task_batch().number(), 2u);
  acknowledgement.set_batches(2);
  lease_.on_report(acknowledgement);
  EXPECT_EQ(lease_.next_due(), kNever);
}

TEST_F(TaskLeaseTest, CountsEachReportOnceAndInOrder) {
  JobMessage::TaskReport report;
  report.set_number(2);
  EXPECT_FALSE(lease_.on_report(report)) << "the first one is missing";
  report.set_number(1);
  EXPECT_TRUE(lease_.on_report(report));
  EXPECT_FALSE(lease_.on_report(report));
  report.set_number(2);
  EXPECT_TRUE(lease_.on_report(report));
  EXPECT_EQ(lease_.reports(), 2u);
}

TEST_F(TaskLeaseTest, HoldsNothingAfterARecall) {
  give(4);
  EXPECT_TRUE(lease_.recall(now_, config_, kClaim).task_batch().recall());
  EXPECT_TRUE(lease_.held().empty());
}

}  // namespace
}  // namespace gw::job
