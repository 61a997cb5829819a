// Programs that want more than they may have, as wasm in a real worker.

#include <gtest/gtest.h>

#include <limits>

#include "os/files/file.h"
#include "os/process/process.h"
#include "worker_driver.h"

namespace gw::test {
namespace {

using wire::pb::Effect;

// A limit that nothing reaches.
constexpr std::uint64_t kLifted = std::numeric_limits<std::int64_t>::max();

Effect::End run(const std::string& guest, const wire::pb::Limits& limits, std::vector<std::string> args = {"guest"}) {
  WorkerDriver::Options options;
  options.guest_limits = limits;
  WorkerDriver driver(std::move(options));
  driver.load(build_guest(guest));
  driver.start(1, std::move(args));
  EXPECT_TRUE(driver.run_to_end()) << (driver.worker->death() ? driver.worker->death()->sentence : "no end in time");
  return driver.end_of() == nullptr ? Effect::End() : *driver.end_of();
}

// Exits with the number of host files it could open.
TEST(HostileGuest, FindsNoHostFile) {
  const Effect::End end = run("path_tricks", {});
  EXPECT_EQ(end.reason(), Effect::End::EXITED);
  EXPECT_EQ(end.exit_code(), 0u);
}

TEST(HostileGuest, WouldFindHostFilesNatively) {
  auto folder = os::TempDir::make();
  const auto program = folder->path() / "path_tricks";
  const auto source = std::filesystem::path(GODWIT_TEST_GUESTS) / "path_tricks.c";
  auto built = os::run_process({.argv = {"clang-19", source.string(), "-o", program.string()}});
  ASSERT_TRUE(built && built->succeeded());
  auto result = os::run_process({.argv = {program.string()}, .working_dir = folder->path()});
  ASSERT_TRUE(result);
  EXPECT_GE(result->exit_code, 3);
}

TEST(HostileGuest, MemoryIsLimited) {
  wire::pb::Limits limits;
  limits.set_memory_pages(1024);
  EXPECT_NE(run("memory_bomb", limits).exit_code(), 7u);  // 7: it got its 256 MiB
  limits.set_memory_pages(8192);
  EXPECT_EQ(run("memory_bomb", limits).exit_code(), 7u);
}

TEST(HostileGuest, CpuTimeIsLimited) {
  wire::pb::Limits limits;
  limits.set_cpu_time_ns(10'000'000);
  for (const char* guest : {"empty_loop", "long_loop"}) {
    const Effect::End end = run(guest, limits);
    EXPECT_EQ(end.reason(), Effect::End::LIMIT) << guest << ": " << end.sentence();
  }
}

TEST(HostileGuest, GetsItsCpuTimeWithoutTheLimit) {
  wire::pb::Limits limits;
  limits.set_cpu_time_ns(kLifted);
  EXPECT_EQ(run("long_loop", limits).exit_code(), 7u);
}

TEST(HostileGuest, OutputIsLimited) {
  wire::pb::Limits limits;
  limits.set_output_bytes(1u << 20);
  for (const char* blocks : {"-1", "32"}) {
    const Effect::End end = run("output_flood", limits, {"output_flood", blocks});
    EXPECT_EQ(end.reason(), Effect::End::LIMIT) << blocks << ": " << end.sentence();
  }
}

TEST(HostileGuest, GetsRidOfItsOutputWithoutTheLimit) {
  wire::pb::Limits limits;
  limits.set_output_bytes(kLifted);
  EXPECT_EQ(run("output_flood", limits, {"output_flood", "32"}).exit_code(), 7u);  // 2 MiB
}

// Without the limit it ends the process: StackLimitDeathTest, in src/isolate.
TEST(HostileGuest, RecursionEndsInATrap) {
  const Effect::End end = run("endless_recursion", {});
  EXPECT_EQ(end.reason(), Effect::End::TRAPPED) << end.sentence();
}

TEST(HostileGuest, ForksAreLimited) {
  wire::pb::Limits limits;
  limits.set_threads(50);
  EXPECT_EQ(run("fork_tree", limits, {"fork_tree", "10000"}).exit_code(), 1u);
  EXPECT_EQ(run("fork_tree", limits, {"fork_tree", "40"}).exit_code(), 0u);
}

// Two programs in one process: the first writes a pattern, the second looks for it through all its memory and beyond its end.
TEST(HostileGuest, CannotSeeAnotherIsolate) {
  WorkerDriver driver;
  driver.load(build_guest("look_around"));
  driver.start(1, {"look_around", "write"});
  ASSERT_TRUE(driver.run_until([&] { return driver.output(1) == "written\n"; }));
  driver.start(2, {"look_around", "search"});
  ASSERT_TRUE(driver.run_to_end(2));
  EXPECT_EQ(driver.end_of(2)->reason(), Effect::End::TRAPPED);  // beyond its end
  EXPECT_EQ(driver.output(2), "nothing found\n");
  EXPECT_FALSE(driver.worker->death());
}

// In one memory the same search finds it. That the other's memory lies in the same process: MemoryOfAnIsolate, in src/isolate
TEST(HostileGuest, SeesWhatIsInItsOwnMemory) {
  WorkerDriver driver;
  driver.load(build_guest("look_around"));
  driver.start(1, {"look_around", "both"});
  ASSERT_TRUE(driver.run_to_end());
  EXPECT_EQ(driver.output(), "found\n");
}

}  // namespace
}  // namespace gw::test
