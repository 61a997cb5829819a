#include "job/home/task_table.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace task_table_test {

const PeerId kTaskHost{sha256(as_bytes("a host"))};

using State = TaskTable::State;

TEST(TaskTable, LeasesWaitingTasksInTheirOrder) {
  TaskTable tasks(100);
  EXPECT_EQ(tasks.lease(30, kTaskHost, TaskTable::SameHost::no), (TaskSpan{0, 30}));
  EXPECT_EQ(tasks.lease(1000, kTaskHost, TaskTable::SameHost::no), (TaskSpan{30, 70}));
  EXPECT_EQ(tasks.lease(1, kTaskHost, TaskTable::SameHost::no), std::nullopt);
  EXPECT_EQ(tasks.leased(), 100u);
  tasks.wait(7);
  EXPECT_EQ(tasks.state(7), State::waiting);
  EXPECT_EQ(tasks.lease(5, kTaskHost, TaskTable::SameHost::no), (TaskSpan{7, 1}));
}

TEST(TaskTable, CountsHowTasksEnd) {
  TaskTable tasks(4);
  tasks.lease(4, kTaskHost, TaskTable::SameHost::no);
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
  tasks.lease(kTasks, kTaskHost, TaskTable::SameHost::no);
  for (std::uint32_t task = 0; task < kTasks; ++task) tasks.fail(task, {.exit_code = 1, .sentence = "it trapped"});
  EXPECT_EQ(tasks.failures().size(), TaskTable::kMaxFailures);
  EXPECT_EQ(tasks.failed_tasks().size(), kTasks);
}

TEST(TaskTable, RemembersHowOftenATaskWasLost) {
  TaskTable tasks(2);
  tasks.lease(2, kTaskHost, TaskTable::SameHost::no);
  EXPECT_EQ(tasks.count_attempt(1), 1u);
  EXPECT_EQ(tasks.count_attempt(1), 2u);
  EXPECT_EQ(tasks.attempts(0), 0u);
  tasks.end(1);
  EXPECT_EQ(tasks.attempts(1), 0u) << "the task is over";
}

TEST(TaskTable, OfAMillionTasksHasTwoBitsForEach) {
  TaskTable tasks(1'000'000);
  for (std::uint32_t lease = 0; lease < 1000; ++lease)
    ASSERT_EQ(tasks.lease(1000, kTaskHost, TaskTable::SameHost::no), (TaskSpan{lease * 1000, 1000}));
  for (std::uint32_t task = 0; task < 1'000'000; ++task) tasks.end(task);
  EXPECT_EQ(tasks.unfinished(), 0u);
  EXPECT_EQ(tasks.ended(), 1'000'000u);
}

TEST(TaskTable, GoesOnAfterARestart) {
  TaskTable tasks(10);
  tasks.end(tasks.recover(3));
  tasks.promote(tasks.recover(5));
  EXPECT_EQ(tasks.lease(10, kTaskHost, TaskTable::SameHost::no), (TaskSpan{0, 3}));
  EXPECT_EQ(tasks.lease(10, kTaskHost, TaskTable::SameHost::no), (TaskSpan{4, 1}));
  EXPECT_EQ(tasks.lease(10, kTaskHost, TaskTable::SameHost::no), (TaskSpan{6, 4}));
}

TEST(TaskTable, ATaskThatFailedIsLeasedFirstAndElsewhere) {
  const PeerId other{sha256(as_bytes("another host"))};
  TaskTable table(10);
  ASSERT_TRUE(table.lease(4, kTaskHost, TaskTable::SameHost::no));
  table.run_again(2, kTaskHost);
  EXPECT_EQ(table.waiting(), 7u);
  EXPECT_TRUE(table.runs_again(2));
  EXPECT_EQ(table.lease(1, kTaskHost, TaskTable::SameHost::no)->first, 4u) << "it failed at this host";
  EXPECT_EQ(table.lease(1, other, TaskTable::SameHost::no)->first, 2u);
  table.run_again(2, other);
  EXPECT_EQ(table.failed_runs(2), 2u);
  EXPECT_EQ(table.lease(1, other, TaskTable::SameHost::yes)->first, 2u) << "there is no other host";
  table.end(2);
  EXPECT_EQ(table.failed_runs(2), 0u) << "nothing is kept of a task that is over";
}

TEST(TaskTable, HasOnlyTheTasksThatWereSelected) {
  TaskTable table(100, {{10, 2}, {97, 3}});
  EXPECT_EQ(table.unfinished(), 5u);
  EXPECT_EQ(table.unfinished_tasks().spans(), (std::vector<TaskSpan>{{10, 2}, {97, 3}}));
  EXPECT_EQ(table.state(9), TaskTable::State::over);
  EXPECT_EQ(*table.lease(10, kTaskHost, TaskTable::SameHost::no), (TaskSpan{10, 2}));
}

TEST(TaskTable, LeasesNoHeldTaskAndNeverASkippedOne) {
  TaskTable tasks(10);
  tasks.hold({2, 6});
  EXPECT_EQ(tasks.waiting(), 4u);
  EXPECT_EQ(tasks.unfinished(), 10u);
  EXPECT_EQ(tasks.lease(10, kTaskHost, TaskTable::SameHost::no), (TaskSpan{0, 2}));
  EXPECT_EQ(tasks.lease(10, kTaskHost, TaskTable::SameHost::no), (TaskSpan{8, 2}));
  EXPECT_EQ(tasks.lease(10, kTaskHost, TaskTable::SameHost::no), std::nullopt);
  tasks.skip({5, 3});
  EXPECT_EQ(tasks.skipped(), 3u);
  EXPECT_EQ(tasks.state(6), State::over);
  EXPECT_EQ(tasks.unfinished(), 7u);
  tasks.release({0, 10});
  EXPECT_EQ(tasks.lease(10, kTaskHost, TaskTable::SameHost::no), (TaskSpan{2, 3}));
  EXPECT_EQ(tasks.unfinished_tasks().size(), 7u);
}

}  // namespace task_table_test
}  // namespace gw::job
