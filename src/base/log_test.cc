#include "base/log_sink.h"

#include <gtest/gtest.h>

namespace gw {
namespace {

class LogTest : public testing::Test {
 protected:
  void TearDown() override {
    log::set_level(log::Level::warn);
    log::set_sink({});
  }
};

TEST_F(LogTest, WritesTextAndKeyValues) {
  testing::internal::CaptureStderr();
  log::warn("isolate", "suspended", kv("id", 7), kv("why", "asked"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warn isolate: suspended id=7 why=asked\n");
}

TEST_F(LogTest, AValueStaysOnOneLineAndOneWord) {
  testing::internal::CaptureStderr();
  log::warn("node", "peer refused", kv("why", "it said \"no\"\nerror node: forged"), kv("path", "a\\b"), kv("none", ""),
            kv("name", "café"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warn node: peer refused why=\"it said \\\"no\\\"\\nerror node: forged\" path=\"a\\\\b\" none=\"\" name=café\n");
}

TEST_F(LogTest, DropsWhatIsBelowTheLevel) {
  testing::internal::CaptureStderr();
  log::info("isolate", "not said");
  log::set_level(log::Level::info);
  log::info("isolate", "said");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "info isolate: said\n");
}

TEST_F(LogTest, LinesGoToTheSinkInsteadOfStderr) {
  std::string lines;
  log::set_sink(
      [&](log::Level level, std::string_view line) { lines += fmt::format("{}{}", level == log::Level::error ? "!" : "", line); });
  testing::internal::CaptureStderr();
  log::error("disk", "full", kv("left", 0));
  EXPECT_EQ(lines, "!error disk: full left=0\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(LogTest, CutsOffRepeatedLines) {
  testing::internal::CaptureStderr();
  for (unsigned i = 0; i < 10 * log::kLinesPerSecond; ++i) log::error("isolate", "again", kv("i", i));
  const std::string text = testing::internal::GetCapturedStderr();
  // Two windows at most, however slow the machine.
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 2 * log::kLinesPerSecond);
  EXPECT_GE(std::count(text.begin(), text.end(), '\n'), log::kLinesPerSecond);
}

}  // namespace
}  // namespace gw
