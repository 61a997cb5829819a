#include "node/driver/capacity_watch.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(SpeedTest, IsReadFromTheWorker) {
  const SpeedTest good = read_speed_test(os::ProcessResult{.out = "1250\n"});
  EXPECT_EQ(good.speed, 1250u);
  EXPECT_EQ(good.failure, "");
}

TEST(SpeedTest, AWorkerThatDoesNotStartSaysWhy) {
  const auto failure = [](const Result<os::ProcessResult>& run) {
    const SpeedTest test = read_speed_test(run);
    EXPECT_EQ(test.speed, 0u);
    return test.failure;
  };
  EXPECT_EQ(failure(os::ProcessResult{.exit_code = 127, .err = "\nerror while loading shared libraries: libuv.so.1\nmore\n"}),
            "error while loading shared libraries: libuv.so.1");
  EXPECT_EQ(failure(os::ProcessResult{.exit_code = 3}), "it exited with 3");
  EXPECT_EQ(failure(os::ProcessResult{.signal = 9}), "signal 9 ended it");
  EXPECT_EQ(failure(os::ProcessResult{.out = "fast"}), "it did not say how fast this machine is");
  EXPECT_EQ(failure(fail(Kind::not_found, "there is no godwit-worker")), "there is no godwit-worker");
}

TEST(SpeedTest, ABusyMachineIsNotBroken) {
  const SpeedTest test = read_speed_test(fail(Kind::timeout, "it took longer than 5000 ms and was ended"));
  EXPECT_EQ(test.speed, 0u);
  EXPECT_EQ(test.failure, "");
}

TEST(SpeedTestTimes, AtTheStartThenEachHourWhileIdle) {
  SpeedTestTimes times;
  EXPECT_TRUE(times.begin_if_due(seconds(1), false)) << "whatever runs";
  EXPECT_FALSE(times.begin_if_due(seconds(2), true)) << "one at a time";
  times.on_ended(seconds(2), false);
  EXPECT_FALSE(times.begin_if_due(minutes(59), true));
  EXPECT_FALSE(times.begin_if_due(hours(2), false)) << "a job runs";
  EXPECT_TRUE(times.begin_if_due(hours(3), true));
}

TEST(SpeedTestTimes, EachMinuteWhileWorkersCannotStart) {
  SpeedTestTimes times;
  ASSERT_TRUE(times.begin_if_due(seconds(1), true));
  times.on_ended(seconds(2), true);
  EXPECT_FALSE(times.begin_if_due(seconds(60), false));
  EXPECT_TRUE(times.begin_if_due(seconds(62), false));
}

}  // namespace
}  // namespace gw::node
