#include "worker/task_runs.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "os/clock.h"

namespace gw::worker {
namespace {

using wire::pb::FromWorker;
using wire::pb::TaskResult;

class TaskRunsTest : public ::testing::Test {
 protected:
  static TaskRuns::Setup setup() {
    TaskRuns::Setup setup{.config = {}, .tasks = 10'000, .promote_after = std::chrono::seconds(1)};
    setup.config.add_args("program {}");
    setup.config.set_random_seed(std::string(32, 's'));
    setup.config.add_inputs()->set_path("input");
    return setup;
  }
  static wire::pb::ToWorker::Tasks tasks(std::vector<std::pair<std::uint32_t, std::uint32_t>> list) {
    wire::pb::ToWorker::Tasks tasks;
    for (const auto& [first, count] : list) {
      auto& range = *tasks.add_ranges();
      range.set_first(first);
      range.set_count(count);
    }
    return tasks;
  }
  static TaskRuns::Ranges ranges(std::vector<std::pair<std::uint32_t, std::uint32_t>> list) { return tasks(std::move(list)).ranges(); }
  std::optional<std::uint32_t> take() {
    const auto task = runs.take();
    return task ? std::optional(task->number) : std::nullopt;
  }
  static TaskResult result(std::uint32_t task, std::size_t bytes = 1) {
    TaskResult result;
    result.set_task(task);
    result.add_effects()->mutable_output()->set_bytes(std::string(bytes, 'x'));
    return result;
  }
  // The numbers of results in the next frame; 0: there is none.
  int next_frame() {
    const auto bytes = runs.take_frame();
    FromWorker frame;
    if (bytes) EXPECT_TRUE(frame.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())));
    return frame.task_results().results_size();
  }
  void run(std::size_t bytes = 1) {
    const auto task = take();
    ASSERT_TRUE(task);
    runs.end(result(*task, bytes));
  }

  TaskRunsTest() { runs.set_lanes(1000, 0); }

  OutgoingFrames outgoing{os::UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))};
  TaskRuns runs{setup(), TaskRuns::configs_of(setup()).value(), outgoing};
};

TEST_F(TaskRunsTest, RunsAsManyAtOnceAsThereAreLanes) {
  ASSERT_TRUE(runs.add(tasks({{0, 10}})));
  runs.set_lanes(2, 0);
  EXPECT_EQ(take(), 0u);
  EXPECT_EQ(take(), 1u);
  EXPECT_EQ(take(), std::nullopt);
  runs.end(result(0));
  EXPECT_EQ(take(), 2u);
  runs.add_promoted(nullptr);
  EXPECT_EQ(take(), std::nullopt) << "the promoted task keeps its lane";
  runs.set_lanes(2, 0);
  EXPECT_EQ(take(), std::nullopt) << "the parent has not heard of it";
  runs.set_lanes(2, 1);
  EXPECT_EQ(take(), 3u);
}

TEST_F(TaskRunsTest, GivesTasksInOrderWithoutThoseThatWereDropped) {
  ASSERT_TRUE(runs.add(tasks({{5, 5}, {10, 2}, {0, 3}})));
  EXPECT_TRUE(runs.busy());
  runs.drop(ranges({{6, 2}, {11, 1}, {2, 1}}));
  std::vector<std::uint32_t> taken;
  while (const auto task = take()) taken.push_back(*task);
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{5, 8, 9, 10, 0, 1}));
  EXPECT_TRUE(runs.busy());  // they are in progress
  for (std::size_t i = 0; i < taken.size(); i++) runs.end(std::nullopt);
  EXPECT_FALSE(runs.busy());
}

TEST_F(TaskRunsTest, RefusesTasksThatDoNotExist) {
  EXPECT_FALSE(runs.add(tasks({{10'000, 1}})));
  EXPECT_FALSE(runs.add(tasks({{9'999, 2}})));
  EXPECT_TRUE(runs.add(tasks({{9'999, 1}})));
}

TEST_F(TaskRunsTest, GathersResultsUntilNoTaskWaits) {
  ASSERT_TRUE(runs.add(tasks({{0, 10}})));
  for (int i = 0; i < 10; i++) run();
  int sent = 0;
  while (const int results = next_frame()) sent += results;  // if the machine was so slow that their time was over
  EXPECT_LT(sent, 10);
  EXPECT_FALSE(runs.take());
  EXPECT_EQ(sent + next_frame(), 10);
}

TEST_F(TaskRunsTest, SendsManyAtOnce) {
  ASSERT_TRUE(runs.add(tasks({{0, 10'000}})));
  for (int i = 0; i < TaskRuns::kMostResults; i++) run();
  EXPECT_GT(next_frame(), 0);
}

TEST_F(TaskRunsTest, SendsLargeResultsAtOnce) {
  ASSERT_TRUE(runs.add(tasks({{0, 10}})));
  run(TaskRuns::kMostBytes);
  EXPECT_EQ(next_frame(), 1);
}

TEST_F(TaskRunsTest, NoResultWaitsLongForATaskThatRunsOn) {
  ASSERT_TRUE(runs.add(tasks({{0, 2}})));
  run();
  ASSERT_TRUE(runs.take());
  ASSERT_TRUE(runs.next());
  EXPECT_LE(*runs.next(), os::monotonic_now() + TaskRuns::kLongest);
  runs.on_tick(*runs.next() - std::chrono::nanoseconds(1));
  EXPECT_EQ(next_frame(), 0);
  runs.on_tick(*runs.next());
  EXPECT_EQ(next_frame(), 1);
  EXPECT_FALSE(runs.next());
}

TEST_F(TaskRunsTest, NoTaskBeginsWhileTheParentDoesNotRead) {
  ASSERT_TRUE(runs.add(tasks({{0, 10'000}})));
  int run_tasks = 0;
  for (std::optional<std::uint32_t> task; (task = take()); run_tasks++) runs.end(result(*task, 1u << 20));
  EXPECT_GE(run_tasks, 4);
  EXPECT_LE(run_tasks, 5);
  EXPECT_FALSE(runs.take_released());
  while (next_frame() > 0) {
  }
  EXPECT_TRUE(runs.take_released());
  EXPECT_FALSE(runs.take_released());
  EXPECT_TRUE(runs.take());
}

TEST_F(TaskRunsTest, EachTaskHasItsOwnStart) {
  const isolate::GuestStart one = runs.start_of({1}).value(), two = runs.start_of({2}).value();
  EXPECT_EQ(one.args, std::vector<std::string>{"program 1"});
  EXPECT_EQ(two.args, std::vector<std::string>{"program 2"});
  EXPECT_NE(one.random_seed, two.random_seed);
  EXPECT_EQ(runs.config({}).inputs.size(), 1u);
}

class TaskRunsWithRows : public TaskRunsTest {
 protected:
  static TaskRuns::Setup setup_with_rows() {
    TaskRuns::Setup setup = TaskRunsTest::setup();
    setup.values.set_has_rows(true);
    setup.values.add_columns("");
    setup.values.add_outputs("out/{/.}.txt");
    return setup;
  }
  static wire::pb::ToWorker::Tasks with_rows(std::uint32_t first, const std::vector<std::string>& values) {
    wire::pb::ToWorker::Tasks given = tasks({{first, static_cast<std::uint32_t>(values.size())}});
    for (const std::string& value : values) given.add_rows()->add_values(value);
    return given;
  }
  TaskRuns runs{setup_with_rows(), TaskRuns::configs_of(setup_with_rows()).value(), outgoing};
};

TEST_F(TaskRunsWithRows, EachTaskStartsWithItsRow) {
  runs.set_lanes(10, 0);
  ASSERT_TRUE(runs.add(with_rows(5, {"a/one.png", "b/two.png"})));
  ASSERT_TRUE(runs.add(with_rows(3, {"three"})));
  runs.drop(ranges({{5, 1}}));
  const auto two = runs.take(), three = runs.take();
  ASSERT_TRUE(two && three);
  EXPECT_EQ(two->number, 6u);
  EXPECT_EQ(three->number, 3u);
  EXPECT_EQ(runs.start_of(*two)->args, std::vector<std::string>{"program b/two.png"});
  EXPECT_EQ(runs.start_of(*two)->outputs, std::vector<std::string>{"out/two.txt"});
  EXPECT_EQ(runs.start_of(*three)->outputs, std::vector<std::string>{"out/three.txt"});
  EXPECT_FALSE(runs.start_of({5})) << "a task without its row has no start";
}

}  // namespace
}  // namespace gw::worker
