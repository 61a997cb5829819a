#include "job/tasks/task_set.h"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"

namespace gw::job {
namespace {

TEST(TaskSet, JoinsRangesThatTouch) {
  TaskSet set;
  set.add({0, 3});
  set.add({5, 2});
  set.add({3, 2});
  EXPECT_EQ(set.spans(), (std::vector<TaskSpan>{{0, 7}}));
  EXPECT_EQ(set.size(), 7u);
}

TEST(TaskSet, IsCutByARemoval) {
  TaskSet set;
  set.add({0, 10});
  EXPECT_EQ(set.remove({3, 4}), 4u);
  EXPECT_EQ(set.spans(), (std::vector<TaskSpan>{{0, 3}, {7, 3}}));
  EXPECT_EQ(set.remove({2, 6}), 2u);
  EXPECT_FALSE(set.remove(2));
}

TEST(TaskSet, NamesItsTasksInARange) {
  TaskSet set;
  set.add({4, 2});
  set.add({9, 5});
  EXPECT_EQ(set.within({5, 6}), (std::vector<TaskSpan>{{5, 1}, {9, 2}}));
  EXPECT_EQ(set.within({0, 1u << 20}), set.spans());
  EXPECT_TRUE(set.within({6, 3}).empty());
  EXPECT_TRUE(set.within({14, 9}).empty());
}

TEST(TaskSet, GivesOutItsFirstTasks) {
  TaskSet set;
  set.add({4, 2});
  set.add({9, 5});
  EXPECT_EQ(set.take_first(10), (TaskSpan{4, 2}));
  EXPECT_EQ(set.take_first(3), (TaskSpan{9, 3}));
  EXPECT_EQ(set.last(1), (TaskSpan{13, 1}));
  EXPECT_EQ(set.take_first(0), std::nullopt);
  EXPECT_EQ(set.take_first(9), (TaskSpan{12, 2}));
  EXPECT_EQ(set.take_first(9), std::nullopt);
}

TEST(TaskSet, IsASet) {
  Rng rng(7);
  TaskSet set;
  std::set<std::uint32_t> model;
  for (int step = 0; step < 20'000; ++step) {
    const TaskSpan span{static_cast<std::uint32_t>(rng.below(200)), static_cast<std::uint32_t>(rng.below(20))};
    if (rng.below(2) == 0) {
      set.add(span);
      for (std::uint32_t i = 0; i < span.count; ++i) model.insert(span.first + i);
    } else {
      std::size_t removed = 0;
      for (std::uint32_t i = 0; i < span.count; ++i) removed += model.erase(span.first + i);
      ASSERT_EQ(set.remove(span), removed);
    }
    ASSERT_EQ(set.size(), model.size());
    const auto task = static_cast<std::uint32_t>(rng.below(220));
    ASSERT_EQ(set.contains(task), model.contains(task));
  }
  std::size_t in_spans = 0;
  for (const TaskSpan& span : set.spans()) in_spans += span.count;
  EXPECT_EQ(in_spans, model.size());
}

}  // namespace
}  // namespace gw::job
