#include "cli/console/quantity.h"

#include <gtest/gtest.h>

namespace gw::cli {
namespace {

using std::chrono::milliseconds;

TEST(Duration, ReadsNumbersWithUnits) {
  EXPECT_EQ(*parse_duration("200ms"), milliseconds(200));
  EXPECT_EQ(*parse_duration("0ms"), milliseconds(0));
  EXPECT_EQ(*parse_duration("1.5s"), milliseconds(1500));
  EXPECT_EQ(*parse_duration("3m"), milliseconds(180'000));
  EXPECT_EQ(*parse_duration("1h30m"), milliseconds(5'400'000));
  EXPECT_EQ(*parse_duration("2d1h1m1s1ms"), milliseconds(176'461'001));
}

TEST(Duration, ReadsHoursMinutesSeconds) {
  EXPECT_EQ(*parse_duration("00:00:02"), milliseconds(2000));
  EXPECT_EQ(*parse_duration("02:30:00"), milliseconds(9'000'000));
  EXPECT_EQ(*parse_duration("100:00:59"), milliseconds(360'059'000));
}

TEST(Duration, RefusesEverythingElse) {
  for (const char* text : {"",         "2",      "s",      "-1s",       "+1s",       "2 s",          "2sec", "nan",
                           "infs",     "1e300h", "30m1h",  "1s1s",      "1h30",      "99999999999h", ".5s",  "1:2:3",
                           "01:60:00", "01:00",  ":00:00", "1.5:00:00", "01:00:00x", "-1:00:00"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().kind, Kind::invalid);
  }
}

TEST(Bytes, ReadsSizes) {
  EXPECT_EQ(*parse_bytes("65536"), 65536u);
  EXPECT_EQ(*parse_bytes("64MiB"), 64u << 20);
  EXPECT_EQ(*parse_bytes("512M"), 512u << 20);
  EXPECT_EQ(*parse_bytes("1.5K"), 1536u);
  for (const char* text : {"", "M", "64MB", "-1", "1e3", "5 M", "1M1K", "99999999G", "nan"}) EXPECT_FALSE(parse_bytes(text)) << text;
}

TEST(Human, ShowsWhatFits) {
  EXPECT_EQ(human_bytes(12), "12 B");
  EXPECT_EQ(human_bytes(3482), "3.4 KiB");
  EXPECT_EQ(human_bytes(std::uint64_t{5} << 40), "5.0 TiB");
  EXPECT_EQ(human_duration(milliseconds(340)), "340 ms");
  EXPECT_EQ(human_duration(milliseconds(2500)), "2.5 s");
  EXPECT_EQ(human_duration(milliseconds(61'000)), "1m01s");
  EXPECT_EQ(human_duration(milliseconds(5'400'000)), "1h30m");
  EXPECT_EQ(human_duration(std::chrono::hours(47)), "47h00m");
  EXPECT_EQ(human_duration(std::chrono::hours(30 * 24 + 1)), "30d01h");
}

}  // namespace
}  // namespace gw::cli
