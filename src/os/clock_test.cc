#include "os/clock.h"

#include <gtest/gtest.h>

namespace gw::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Clock, WritesATimeAsRfc3339) {
  EXPECT_EQ(timestamp(seconds(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(timestamp(seconds(951782400) + milliseconds(42)), "2000-02-29T00:00:00.042Z");
  EXPECT_EQ(timestamp(seconds(1794978071) + std::chrono::microseconds(999'999)), "2026-11-18T05:01:11.999Z") << "cut, not rounded";
}

}  // namespace
}  // namespace gw::os
