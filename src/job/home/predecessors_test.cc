#include "job/home/predecessors.h"

#include "job/test/at_home.h"

namespace gw::job {
namespace home_test {
namespace {

const JobId kFirstJob{sha256(as_bytes("first"))}, kSecondJob{sha256(as_bytes("second"))};

class AfterOthers : public AtHome {
 protected:
  AfterOthers() {
    environment_.course_of = [this](const JobId& job) { return courses_[job]; };
    courses_ = {{kFirstJob, JobCourse::unfinished}, {kSecondJob, JobCourse::unfinished}};
    wire::pb::Manifest::Policy policy = manifest_of(2).policy();
    policy.add_after(kFirstJob.bytes());
    policy.add_after(kSecondJob.bytes());
    begin(2, &policy);
  }
  // Whether home asks for slots at its next ticks.
  bool seeks() {
    bool seeks = false;
    for (int i = 0; i < 4; ++i) {
      now_ += std::chrono::seconds(1);
      home_->on_tick(now_, out_);
      for (const auto& [to, message] : take()) seeks = seeks || message.has_search();
    }
    return seeks;
  }

  std::map<JobId, JobCourse> courses_;
};

TEST_F(AfterOthers, AJobBeginsWhenAllThatItFollowsHaveEndedWell) {
  EXPECT_FALSE(seeks());
  courses_[kFirstJob] = JobCourse::ended_well;
  EXPECT_FALSE(seeks());
  EXPECT_EQ(home_->snapshot().threads.at(0).why.reason, Reason::predecessor);
  courses_[kSecondJob] = JobCourse::ended_well;
  EXPECT_TRUE(seeks());
  courses_.clear();
  EXPECT_FALSE(home_->over()) << "a job that has begun does not look back";
}

TEST_F(AfterOthers, AJobFailsWithOneThatItFollows) {
  courses_[kSecondJob] = JobCourse::ended_badly;
  EXPECT_FALSE(seeks());
  ASSERT_TRUE(home_->over());
  const wire::pb::JobRecord record = home_->record();
  EXPECT_NE(record.sentence().find(kSecondJob.brief()), std::string::npos);
  EXPECT_GT(record.failed(), 0u);
  EXPECT_NE(record.exit_code(), 0u);
}

TEST_F(AfterOthers, AJobThatIsForgottenIsNotWaitedForWithoutEnd) {
  courses_.erase(kFirstJob);
  EXPECT_FALSE(seeks());
  EXPECT_TRUE(home_->over());
}

}  // namespace
}  // namespace home_test
}  // namespace gw::job
