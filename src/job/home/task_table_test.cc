#include "job/home/task_table.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

using State = TaskTable::State;

TEST(TaskTable, LeasesWaitingTasksInTheirOrder) {
  TaskTable tasks(100);
  EXPECT_EQ(tasks.lease(30), (TaskSpan{0, 30}));
  EXPECT_EQ(tasks.lease(1000), (TaskSpan{30, 70}));
  EXPECT_EQ(tasks.lease(1), std::nullopt);
  EXPECT_EQ(tasks.leased(), 100u);
  tasks.wait(7);
  EXPECT_EQ(tasks.state(7), State::waiting);
  EXPECT_EQ(tasks.lease(5), (TaskSpan{7, 1}));
}

TEST(TaskTable, CountsHowTasksEnd) {
  TaskTable tasks(4);
  tasks.lease(4);
  tasks.end(0);
  tasks.fail(1, {.exit_code = 3, .sentence = ""});
  tasks.promote(2);
  EXPECT_EQ(tasks.unfinished(), 1u);
  EXPECT_EQ(tasks.ended(), 1u);
  EXPECT_EQ(tasks.failed(), 1u);
  EXPECT_EQ(tasks.threads(), 1u);
  EXPECT_EQ(tasks.exit_code(), 3u);
  EXPECT_EQ(tasks.failure(1)->exit_code, 3u);
  EXPECT_EQ(tasks.failure(0), nullptr);
  EXPECT_EQ(tasks.state(0), State::over);
  EXPECT_EQ(tasks.state(3), State::leased);
}

TEST(TaskTable, KnowsEveryFailedTaskAndKeepsTheSentencesOfTheFirst) {
  constexpr std::uint32_t kTasks = TaskTable::kMaxFailures + 10;
  TaskTable tasks(kTasks);
  tasks.lease(kTasks);
  for (std::uint32_t task = 0; task < kTasks; ++task) tasks.fail(task, {.exit_code = 1, .sentence = "it trapped"});
  EXPECT_EQ(tasks.failures().size(), TaskTable::kMaxFailures);
  EXPECT_EQ(tasks.failed_tasks().size(), kTasks);
}

TEST(TaskTable, RemembersHowOftenATaskWasLost) {
  TaskTable tasks(2);
  tasks.lease(2);
  EXPECT_EQ(tasks.count_attempt(1), 1u);
  EXPECT_EQ(tasks.count_attempt(1), 2u);
  EXPECT_EQ(tasks.attempts(0), 0u);
  tasks.end(1);
  EXPECT_EQ(tasks.attempts(1), 0u) << "the task is over";
}

TEST(TaskTable, OfAMillionTasksHasTwoBitsForEach) {
  TaskTable tasks(1'000'000);
  for (std::uint32_t lease = 0; lease < 1000; ++lease) ASSERT_EQ(tasks.lease(1000), (TaskSpan{lease * 1000, 1000}));
  for (std::uint32_t task = 0; task < 1'000'000; ++task) tasks.end(task);
  EXPECT_EQ(tasks.unfinished(), 0u);
  EXPECT_EQ(tasks.ended(), 1'000'000u);
}

TEST(TaskTable, GoesOnAfterARestart) {
  TaskTable tasks(10);
  tasks.end(tasks.recover(3));
  tasks.promote(tasks.recover(5));
  EXPECT_EQ(tasks.lease(10), (TaskSpan{0, 3}));
  EXPECT_EQ(tasks.lease(10), (TaskSpan{4, 1}));
  EXPECT_EQ(tasks.lease(10), (TaskSpan{6, 4}));
}

}  // namespace
}  // namespace gw::job
