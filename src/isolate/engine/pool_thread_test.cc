#include "isolate/engine/pool_thread.h"

#include <gtest/gtest.h>

#include <future>

namespace gw::isolate {
namespace {

TEST(PoolThread, RunsWhatIsPostedInOrder) {
  std::vector<int> order;
  {
    auto thread = PoolThread::make({});
    ASSERT_TRUE(thread) << thread.error().detail;
    for (int i = 0; i < 100; i++) ASSERT_TRUE((*thread)->post([&order, i] { order.push_back(i); }));
  }
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(PoolThread, CallsAndReturnsTheResult) {
  auto thread = PoolThread::make({});
  ASSERT_TRUE(thread);
  EXPECT_FALSE((*thread)->is_current());
  EXPECT_EQ((*thread)->call([&] { return (*thread)->is_current() ? 7 : 0; }), 7);
  EXPECT_EQ((*thread)->call([&] { return (*thread)->call([] { return 8; }); }), 8);
}

TEST(PoolThread, RefusesMoreThanItsQueueHolds) {
  auto thread = PoolThread::make({.queue_max = 2});
  ASSERT_TRUE(thread);
  std::promise<void> release;
  std::latch busy(1);
  ASSERT_TRUE((*thread)->post([&] {
    busy.count_down();
    release.get_future().wait();
  }));
  busy.wait();
  EXPECT_TRUE((*thread)->post([] {}));
  EXPECT_TRUE((*thread)->post([] {}));
  EXPECT_EQ((*thread)->post([] {}).error().kind, Kind::overloaded);
  release.set_value();
}

TEST(PoolThread, RefusesAStackTooSmallForTheEngine) { EXPECT_FALSE(PoolThread::make({.stack_bytes = 4096})); }

}  // namespace
}  // namespace gw::isolate
