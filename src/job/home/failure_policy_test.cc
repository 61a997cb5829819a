#include "job/home/failure_policy.h"

#include "job/test/at_home.h"

namespace gw::job {
namespace home_test {
namespace {

TEST(FailurePolicy, AJobStopsWhenItsTimeIsOverAndWorkIsLeft) {
  wire::pb::Manifest content = manifest_of(4);
  content.mutable_policy()->set_job_time_ns(60'000'000'000);
  const Manifest manifest = Manifest::check(Manifest::encode(content)).value();
  const FailurePolicy policy(manifest);
  EXPECT_EQ(policy.out_of_time(seconds(59), 2), std::nullopt);
  EXPECT_EQ(policy.out_of_time(seconds(60), 0), std::nullopt);
  EXPECT_EQ(policy.out_of_time(seconds(60), 2),
            "stopped because its job time of 60 s is over; 2 of its threads and tasks did not run to an end");
}

TEST(FailurePolicy, WithoutAJobTimeAJobRunsOn) {
  const Manifest manifest = Manifest::check(Manifest::encode(manifest_of(4))).value();
  EXPECT_EQ(FailurePolicy(manifest).out_of_time(std::chrono::days(4000), 1), std::nullopt);
}

TEST_F(AtHome, AJobWhoseTimeIsOverEndsAndHasFailed) {
  wire::pb::Manifest::Policy policy = manifest_of(2).policy();
  policy.set_job_time_ns(20'000'000'000);
  begin(2, &policy);
  const auto running = offer(kFirst, 1);
  effects(kFirst, {end_of(running.at(0), 1)});
  ASSERT_TRUE(home_->suspend(now_, out_)) << "a suspended job ends too";
  tick(seconds(10));
  EXPECT_FALSE(home_->over());
  tick(seconds(12));
  ASSERT_TRUE(home_->over());
  take();
  const wire::pb::JobRecord record = home_->record();
  EXPECT_EQ(record.state(), wire::pb::JobRecord::DONE);
  EXPECT_EQ(record.ended(), 1u);
  EXPECT_EQ(record.exit_code(), 1u);
  EXPECT_EQ(record.sentence(), "stopped because its job time of 20 s is over; 1 of its threads and tasks did not run to an end");
  EXPECT_EQ(record.job_time_ns(), 20'000'000'000u);
}

}  // namespace
}  // namespace home_test
}  // namespace gw::job
