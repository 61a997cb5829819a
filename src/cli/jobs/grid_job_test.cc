#include "cli/jobs/grid_job.h"

#include <gtest/gtest.h>

#include "job/authority/manifest.h"
#include "wire/messages/worker_frames.h"

namespace gw::cli {
namespace {

GridJob example() {
  GridJob job{.module = Bytes((2u << 20) + 7, 1), .workers = 6};
  job.config.add_args("ray.cpp");
  job.config.add_env("HOME=/");
  job.config.set_random_seed(std::string(32, 's'));
  return job;
}

void set_tasks(GridJob& job, std::uint32_t count) { job.sweep = Sweep::make({.count = count}, {}, job.inputs).value(); }

Result<job::Manifest> checked(const GridJob& job) { return job::Manifest::check(job::Manifest::encode(to_manifest(job))); }

TEST(GridJob, TheModuleIsNamedPieceByPiece) {
  const auto manifest = checked(example());
  ASSERT_TRUE(manifest) << manifest.error().detail;
  ASSERT_EQ(manifest->module_chunks().size(), 3u);
  EXPECT_EQ(manifest->module_chunks()[2], sha256(Bytes(7, 1)));
  EXPECT_EQ(manifest->content().policy().slots(), 6u);
}

TEST(GridJob, EachTaskKnowsWhichOneItIs) {
  GridJob job = example();
  set_tasks(job, 3);
  const auto manifest = checked(job);
  ASSERT_TRUE(manifest) << manifest.error().detail;
  ASSERT_EQ(manifest->tasks(), 3u);
  const auto config = manifest->config_of(2, nullptr).value();
  EXPECT_EQ(config.env(config.env_size() - 2), "GODWIT_TASK=2");
  EXPECT_EQ(config.env(config.env_size() - 1), "GODWIT_TASKS=3");
  EXPECT_EQ(config.env(0), "HOME=/");
}

TEST(GridJob, WithoutAnArrayThereIsOneMainThreadThatIsNoTask) {
  const auto manifest = checked(example());
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->tasks(), 1u);
  EXPECT_EQ(manifest->config_of(0, nullptr)->env_size(), 1);
}

TEST(GridJob, TooManyTasksAreRefused) {
  GridJob job = example();
  set_tasks(job, wire::kMaxTasks + 1);
  EXPECT_EQ(checked(job).error().kind, Kind::invalid);
  set_tasks(job, 0);
  EXPECT_EQ(checked(job).error().kind, Kind::invalid);
}

}  // namespace
}  // namespace gw::cli
