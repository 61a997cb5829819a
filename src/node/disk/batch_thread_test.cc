#include "node/disk/batch_thread.h"

#include <gtest/gtest.h>

#include <future>

namespace gw::node {
namespace {

TEST(BatchThread, TakesWhatHasGatheredInOneGo) {
  std::promise<void> began, let_go;
  std::vector<std::vector<int>> taken;
  {
    BatchThread<int> thread({.name = "test", .waiting = 8}, [&](std::vector<int> items) {
      taken.push_back(std::move(items));
      if (taken.size() > 1) return;
      began.set_value();
      let_go.get_future().wait();
    });
    thread.add(0);
    began.get_future().wait();
    for (int i = 1; i <= 8; ++i) thread.add(i);
    let_go.set_value();
  }
  EXPECT_EQ(taken, (std::vector<std::vector<int>>{{0}, {1, 2, 3, 4, 5, 6, 7, 8}}));
}

TEST(BatchThread, AddBlocksWhenTheQueueIsFull) {
  std::vector<int> taken;
  {
    BatchThread<int> thread({.name = "test", .waiting = 2}, [&](std::vector<int> items) {
      EXPECT_LE(items.size(), 2u);
      taken.insert(taken.end(), items.begin(), items.end());
    });
    for (int i = 0; i < 1000; ++i) thread.add(i);
  }
  ASSERT_EQ(taken.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(taken[static_cast<std::size_t>(i)], i);
}

TEST(BatchThread, IsCalledWithNothingWhenItHasNothingToDo) {
  std::atomic<int> calls = 0;
  BatchThread<int> thread({.name = "idle", .idle = std::chrono::milliseconds(1)}, [&](std::vector<int> items) {
    if (items.empty()) ++calls;
  });
  while (calls < 3) std::this_thread::yield();
}

}  // namespace
}  // namespace gw::node
