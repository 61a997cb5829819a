// A parent survives a worker that lies to it, and says what it did.

#include <gtest/gtest.h>

#include <filesystem>

#include "os/files/file.h"
#include "worker_driver.h"

namespace gw::test {
namespace {

using node::DeathCause;

// A worker that was taken over, in the way `name` says.
WorkerDriver lying(const os::TempDir& folder, const std::string& name) {
  const auto program = folder.path() / name;
  std::filesystem::create_symlink(GODWIT_LYING_WORKER, program);
  WorkerDriver::Options options;
  options.program = program;
  if (name == "silent") options.limits.start = std::chrono::milliseconds(200);
  return WorkerDriver(std::move(options));
}

TEST(LyingWorker, ItsHonestTwinIsAccepted) {
  auto folder = os::TempDir::make();
  WorkerDriver driver = lying(*folder, "honest");
  EXPECT_TRUE(driver.run_until([&] { return driver.images.size() == 1; }));
  EXPECT_EQ(driver.effects.size(), 1u);
  EXPECT_FALSE(driver.worker->death());
}

TEST(LyingWorker, IsEndedForEveryLie) {
  for (const char* name :
       {"silent", "oversized", "garbage", "cut_off", "unknown_kind", "no_hello", "hello_twice", "other_version", "path_out", "unsealed"}) {
    SCOPED_TRACE(name);
    auto folder = os::TempDir::make();
    WorkerDriver driver = lying(*folder, name);
    ASSERT_TRUE(driver.run_until_death());
    EXPECT_EQ(driver.cause(), DeathCause::broke_rules) << driver.worker->death()->sentence;
    EXPECT_TRUE(driver.effects.empty());
    EXPECT_TRUE(driver.images.empty());
  }
}

// The daemon reads stderr up to a limit and drops the rest; then it closes the pipe, and the next write ends the worker.
TEST(LyingWorker, AFloodOnStderrEndsIt) {
  auto folder = os::TempDir::make();
  WorkerDriver driver = lying(*folder, "flood");
  ASSERT_TRUE(driver.run_until_death());
  EXPECT_LT(driver.worker->death()->sentence.size(), 4096u);
}

}  // namespace
}  // namespace gw::test
