#include "flock/crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace gw::sim::flock {
namespace {

class CrewTest : public ::testing::TestWithParam<unsigned> {};

// Thousands of times, with all that can be different: nothing to do, one thing, many.
TEST_P(CrewTest, DoesEachThingOnceBeforeItReturns) {
  std::vector<int> done(200);
  std::vector<int> by_seat(GetParam());
  Crew crew(GetParam(), [&](std::uint32_t thing, unsigned seat) {
    ++done[thing];
    ++by_seat[seat];
  });
  int all = 0;
  for (std::uint32_t round = 0; round < 5000; ++round) {
    const std::uint32_t count = round * 7 % 200;
    crew.share(count);
    all += static_cast<int>(count);
    for (std::uint32_t thing = 0; thing < 200; ++thing) ASSERT_EQ(std::exchange(done[thing], 0), thing < count ? 1 : 0);
  }
  int by_all = 0;
  for (const int count : by_seat) by_all += count;
  EXPECT_EQ(by_all, all);
}

TEST_P(CrewTest, WakesUpAfterALongPause) {
  std::atomic<int> done = 0;
  Crew crew(GetParam(), [&](std::uint32_t, unsigned) { ++done; });
  for (int i = 1; i <= 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    crew.share(100);
    EXPECT_EQ(done, 100 * i);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, CrewTest, ::testing::Values(1U, 2U, 5U));

}  // namespace
}  // namespace gw::sim::flock
