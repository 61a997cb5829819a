#include "cli/jobs/placing_options.h"

#include <gtest/gtest.h>

namespace gw::cli {
namespace {

using Policy = wire::pb::Manifest::Policy;

std::string refusal(const PlacingOptions& options) {
  const auto read = to_placing(options);
  return read ? "" : read.error().detail;
}

TEST(PlacingOptions, ReachTheManifest) {
  const auto placing =
      to_placing({.need = "memory=2G,tag=gpu", .place = "spread", .min_workers = 3, .on_failure = "cancel", .job_time = "2h"});
  ASSERT_TRUE(placing) << placing.error().detail;
  Policy policy;
  write(*placing, policy);
  EXPECT_EQ(job::text_of(policy.needs()), "memory=2G,tag=gpu");
  EXPECT_EQ(policy.place(), Policy::SPREAD);
  EXPECT_EQ(policy.min_slots(), 3u);
  EXPECT_EQ(policy.on_failure(), Policy::CANCEL);
  EXPECT_EQ(policy.job_time_ns(), 7'200'000'000'000u);
}

TEST(PlacingOptions, NoneLeaveTheManifestAsItWas) {
  Policy policy;
  write(to_placing({}).value(), policy);
  EXPECT_EQ(policy.SerializeAsString(), "");
}

TEST(PlacingOptions, AWrongOneIsNamedWithWhatToWrite) {
  EXPECT_NE(refusal({.need = "cores=2"}).find("--need: "), std::string::npos);
  EXPECT_EQ(refusal({.on_failure = "retry"}), "--on-failure: 'retry' is none of replace, ignore, cancel");
  EXPECT_EQ(refusal({.place = "far"}), "--place: 'far' is none of near, hash, spread");
  EXPECT_NE(refusal({.job_time = "2"}).find("--job-time: "), std::string::npos);
  EXPECT_EQ(refusal({.job_time = "0s"}), "--job-time: '0s' is too short");
}

TEST(PlacingOptions, AGangIsNotLargerThanItsJob) {
  EXPECT_TRUE(check_min_workers({.min_workers = 4}, 4));
  EXPECT_TRUE(check_min_workers({.min_workers = 4}, std::nullopt));
  EXPECT_EQ(check_min_workers({.min_workers = 5}, 4).error().detail, "--min-workers 5 is more than --workers 4: the job would never begin");
}

TEST(PlacingOptions, MeanAJob) {
  EXPECT_TRUE(check_no_placing_options({}, "--workers"));
  EXPECT_EQ(check_no_placing_options({.need = "tag=gpu"}, "--workers").error().detail,
            "--need needs --workers: without it the program runs on this machine alone");
}

}  // namespace
}  // namespace gw::cli
