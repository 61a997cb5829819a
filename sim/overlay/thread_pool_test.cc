#include "overlay/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace gw::sim::overlay_simulation {
namespace {

class ThreadPoolTest : public ::testing::TestWithParam<unsigned> {};

// Runs thousands of loops without items, with one item and with many.
TEST_P(ThreadPoolTest, DoesEachItemOnceBeforeItReturns) {
  std::vector<int> done(200);
  std::vector<int> by_thread(GetParam());
  ThreadPool pool(GetParam(), [&](std::uint32_t item, unsigned thread_index) {
    ++done[item];
    ++by_thread[thread_index];
  });
  int all = 0;
  for (std::uint32_t round = 0; round < 5000; ++round) {
    const std::uint32_t count = round * 7 % 200;
    pool.for_each(count);
    all += static_cast<int>(count);
    for (std::uint32_t item = 0; item < 200; ++item) ASSERT_EQ(std::exchange(done[item], 0), item < count ? 1 : 0);
  }
  int by_all = 0;
  for (const int count : by_thread) by_all += count;
  EXPECT_EQ(by_all, all);
}

TEST_P(ThreadPoolTest, WakesUpAfterALongPause) {
  std::atomic<int> done = 0;
  ThreadPool pool(GetParam(), [&](std::uint32_t, unsigned) { ++done; });
  for (int i = 1; i <= 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pool.for_each(100);
    EXPECT_EQ(done, 100 * i);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, ::testing::Values(1U, 2U, 5U));

}  // namespace
}  // namespace gw::sim::overlay_simulation
