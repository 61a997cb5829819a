#include "job/deadlines.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

using std::chrono::seconds;

TEST(Deadlines, AreTakenInTheOrderOfTimeAndOnlyOnce) {
  Deadlines<int> deadlines;
  deadlines.set(1, seconds(3));
  deadlines.set(2, seconds(1));
  deadlines.set(3, seconds(2));
  EXPECT_EQ(deadlines.next(), seconds(1));
  EXPECT_EQ(deadlines.take_due(seconds(2)), 2);
  EXPECT_EQ(deadlines.take_due(seconds(2)), 3);
  EXPECT_EQ(deadlines.take_due(seconds(2)), std::nullopt);
  EXPECT_EQ(deadlines.next(), seconds(3));
}

TEST(Deadlines, AKeyHasTheDeadlineThatWasSetLast) {
  Deadlines<int> deadlines;
  deadlines.set(1, seconds(1));
  deadlines.set(1, seconds(5));
  EXPECT_EQ(deadlines.take_due(seconds(4)), std::nullopt);
  deadlines.set(1, kNever);
  EXPECT_EQ(deadlines.next(), kNever);
  EXPECT_EQ(deadlines.size(), 0u);
}

}  // namespace
}  // namespace gw::job
