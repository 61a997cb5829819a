#include "os/owner/owner_activity.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "os/files/file.h"

namespace gw::os {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::system_clock;

class OwnerSigns : public testing::Test {
 protected:
  OwnerSigns() {
    for (const char* folder : {"proc", "dev/pts", "dev/input", "power/BAT0"}) fs::create_directories(root_ / folder);
  }

  void write(const fs::path& file, const std::string& text) { std::ofstream(root_ / file) << text; }
  void touch(const fs::path& file, seconds ago) {
    write(file, "");
    const timespec at{.tv_sec = system_clock::to_time_t(wall_ - ago), .tv_nsec = 0};
    const timespec times[2] = {at, at};
    ASSERT_EQ(::utimensat(AT_FDCWD, (root_ / file).c_str(), times, 0), 0);
  }
  OwnerActivity::Sample read(nanoseconds now, nanoseconds own = {}) { return activity_.read(wall_, now, own); }

  const os::TempDir folder_ = os::TempDir::make().value();
  const fs::path root_ = folder_.path();
  const system_clock::time_point wall_ = system_clock::now();
  OwnerActivity activity_{{.proc = root_ / "proc", .dev = root_ / "dev", .power = root_ / "power"}};
};

TEST_F(OwnerSigns, TheDeviceThatWasReadLastCounts) {
  EXPECT_FALSE(read(seconds(1)).input_idle);
  touch("dev/tty1", seconds(500));
  touch("dev/pts/3", seconds(100));
  touch("dev/input/event0", seconds(300));
  for (const char* other : {"dev/tty", "dev/ttyS0", "dev/null", "dev/pts/ptmx"}) touch(other, seconds(1));
  EXPECT_EQ(read(seconds(1)).input_idle, seconds(100));
}

TEST_F(OwnerSigns, ProgramsOfLowPriorityAndOwnOnesAreNoSign) {
  const nanoseconds tick(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  const auto ticks = [&](milliseconds time) { return std::to_string(time / tick); };
  write("proc/stat", "cpu  0 0 0 100 0 0 0 0 0 0\n");
  EXPECT_EQ(read(seconds(1)).busy, 0);
  write("proc/stat", "cpu  " + ticks(milliseconds(600)) + " " + ticks(seconds(7)) + " " + ticks(milliseconds(400)) + " 100 0 0 0 0 0 0\n");
  EXPECT_NEAR(read(seconds(2), milliseconds(250)).busy, 0.75, 0.02);
  EXPECT_EQ(read(seconds(3), milliseconds(500)).busy, 0) << "the processors were idle";
}

TEST_F(OwnerSigns, ABatteryThatDischargesIsSeen) {
  EXPECT_FALSE(read(seconds(1)).on_battery);
  write("power/BAT0/type", "Battery\n");
  write("power/BAT0/status", "Charging\n");
  EXPECT_FALSE(read(seconds(1)).on_battery);
  write("power/BAT0/status", "Discharging\n");
  EXPECT_TRUE(read(seconds(1)).on_battery);
  write("power/BAT0/scope", "Device\n");
  EXPECT_FALSE(read(seconds(1)).on_battery) << "that of a mouse";
}

}  // namespace
}  // namespace gw::os
