#include "cli/duration.h"

#include <gtest/gtest.h>

namespace gw::cli {
namespace {

using std::chrono::milliseconds;

TEST(Duration, ReadsNumbersWithUnits) {
  EXPECT_EQ(*parse_duration("200ms"), milliseconds(200));
  EXPECT_EQ(*parse_duration("1.5s"), milliseconds(1500));
  EXPECT_EQ(*parse_duration("3m"), milliseconds(180'000));
  EXPECT_EQ(*parse_duration("1h"), milliseconds(3'600'000));
}

TEST(Duration, RefusesEverythingElse) {
  for (const char* text : {"", "2", "s", "-1s", "2 s", "2sec", "nan", "infs", "1e300h"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().kind, Kind::invalid);
  }
}

TEST(Bytes, ReadsSizes) {
  EXPECT_EQ(*parse_bytes("65536"), 65536u);
  EXPECT_EQ(*parse_bytes("64MiB"), 64u << 20);
  EXPECT_FALSE(parse_bytes("64MB"));
  EXPECT_FALSE(parse_bytes("-1"));
}

}  // namespace
}  // namespace gw::cli
