#include "job/host/job_ages.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace job_ages_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

template <class Name>
Name name(std::uint8_t number) {
  return {sha256(ByteView(&number, 1))};
}

constexpr Time kNow = std::chrono::hours(24 * 365 * 50);

TEST(JobAges, AnHonestTimeIsBelievedAsLongAsTheJobAsks) {
  JobAges ages;
  const Time told = kNow - minutes(3);
  for (int minute = 0; minute < 600; ++minute)
    EXPECT_EQ(ages.believed(kNow + minutes(minute), name<PeerId>(1), name<JobId>(1), told), told);
}

TEST(JobAges, ALiarIsAheadOfRecentJobsOnly) {
  JobAges ages;
  const Time honest = kNow - minutes(11);
  EXPECT_GT(ages.believed(kNow, name<PeerId>(1), name<JobId>(1), Time(0)), honest);
  EXPECT_EQ(ages.believed(kNow + minutes(30), name<PeerId>(1), name<JobId>(1), Time(0)), kNow - minutes(10)) << "it stays what it was";
  EXPECT_EQ(ages.believed(kNow + minutes(30), name<PeerId>(1), name<JobId>(2), Time(0)), kNow + minutes(20));
}

TEST(JobAges, ManyJobsOfOneHomePushOutNoJobOfAnother) {
  JobAges ages({.homes = 2, .jobs_per_home = 3});
  const Time told = kNow - minutes(5);
  ages.believed(kNow, name<PeerId>(1), name<JobId>(1), told);
  for (std::uint8_t job = 10; job < 100; ++job) ages.believed(kNow + seconds(job), name<PeerId>(2), name<JobId>(job), told);
  EXPECT_EQ(ages.believed(kNow + minutes(60), name<PeerId>(1), name<JobId>(1), told), told);
  EXPECT_EQ(ages.believed(kNow + minutes(60), name<PeerId>(2), name<JobId>(10), told), kNow + minutes(50)) << "it was forgotten";
}

}  // namespace
}  // namespace job_ages_test
}  // namespace gw::job
