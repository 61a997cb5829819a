#include "cli/jobs/job_selector.h"

#include <gmock/gmock.h>

namespace gw::cli {
namespace {

std::vector<node::JobSummary> three_jobs() {
  std::vector<node::JobSummary> jobs;
  for (const char* name : {"newest", "sweep", "ray.c"})
    jobs.push_back({.id = {sha256(as_bytes(std::string_view(name)))}, .name = name, .program = "ray.c"});
  return jobs;
}

TEST(JobSelector, NamesJobsByAgeNameAndFirstDigits) {
  const auto jobs = three_jobs();
  EXPECT_EQ(find_job("last", jobs).value(), jobs[0].id);
  EXPECT_EQ(find_job("last-2", jobs).value(), jobs[2].id);
  EXPECT_EQ(find_job("sweep", jobs).value(), jobs[1].id);
  EXPECT_EQ(find_job(jobs[2].id.hash.hex().substr(0, 6), jobs).value(), jobs[2].id);
  EXPECT_EQ(find_job("last-3", jobs).error().kind, Kind::not_found);
  EXPECT_EQ(find_job("last-x", jobs).error().kind, Kind::not_found);
  EXPECT_EQ(find_job("", jobs).error().kind, Kind::not_found);
  EXPECT_EQ(find_job("godwit-job:ab", jobs).error().kind, Kind::invalid) << "a ticket is read by the commands that show a job";
  EXPECT_EQ(find_job("ray.c", jobs).error().kind, Kind::not_found) << "the name of its program is not its own";
}

TEST(JobSelector, RefusesANameThatTwoJobsHave) {
  auto jobs = three_jobs();
  jobs[0].name = "sweep";
  const auto found = find_job("sweep", jobs);
  EXPECT_EQ(found.error().kind, Kind::invalid);
  EXPECT_THAT(found.error().detail, ::testing::HasSubstr(jobs[1].id.brief()));
}

TEST(JobSelector, TakesRangesInEitherDirectionAndNoJobTwice) {
  const auto jobs = three_jobs();
  EXPECT_EQ(find_jobs({"last-1..last"}, jobs)->size(), 2u);
  EXPECT_EQ(find_jobs({"last..last-2", "sweep", "last"}, jobs)->size(), 3u);
  EXPECT_EQ(find_jobs({"last-1..last-7"}, jobs).error().kind, Kind::not_found);
}

}  // namespace
}  // namespace gw::cli
