// The tasks of an array in a worker (docs/design/013-task-plane.md).

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "base/hash.h"
#include "job/thread_id.h"
#include "wire/image/image.h"
#include "worker_driver.h"

namespace gw::test {
namespace {

using Ask = WorkerDriver::Ask;
using wire::pb::Effect;
using wire::pb::FromWorker;
using wire::pb::TaskResult;
using wire::pb::ToWorker;

constexpr std::chrono::hours kNever{24};
constexpr std::chrono::milliseconds kSoon{20};

std::string text_of(const TaskResult& result) {
  std::string text;
  for (const Effect& effect : result.effects()) text += effect.output().bytes();
  return text;
}

class Tasks : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kTasks = 12;

  // Task `number` of kTasks does `what`.
  void begin(const std::string& what, const std::string& number, std::chrono::nanoseconds promote_after,
             wire::Level level = wire::Level::fine) {
    driver.load(build_guest("any_task", level));
    wire::pb::ThreadConfig config;
    for (const std::string& arg : {std::string("any_task"), what, number}) config.add_args(arg);
    driver.setup_tasks(kTasks, promote_after, std::move(config));
  }
  static std::uint64_t thread_of(std::uint32_t task) { return job::thread_of_task(task, kTasks).value(); }
  const TaskResult* result_of(std::uint32_t task) const {
    const auto found = std::ranges::find(driver.results, task, &TaskResult::task);
    return found == driver.results.end() ? nullptr : &*found;
  }
  bool wait_for_results(std::size_t count) {
    return driver.run_until([&] { return driver.results.size() >= count; });
  }
  bool wait_for_promotion() {
    return driver.run_until([&] { return !driver.promoted.empty(); });
  }
  static std::string line_of(std::uint32_t task) { return fmt::format("task {} of {}, run 1\n", task, kTasks); }
  void expect_plain(std::uint32_t task) {
    ASSERT_NE(result_of(task), nullptr) << task;
    EXPECT_EQ(text_of(*result_of(task)), line_of(task));
    const Effect& end = *result_of(task)->effects().rbegin();
    EXPECT_EQ(end.end().reason(), Effect::End::EXITED);
    EXPECT_EQ(end.end().exit_code(), 0u);
    EXPECT_EQ(end.thread(), thread_of(task));
  }

  WorkerDriver driver{{.pool_threads = 2, .keep_images = true}};
};

TEST(TaskBatch, RunsInOrderAndItsResultsComeTogether) {
  constexpr std::uint32_t kMany = 2000;
  WorkerDriver driver;
  driver.load(build_guest("any_task"));
  wire::pb::ThreadConfig config;
  for (const char* arg : {"any_task", "nothing", "none"}) config.add_args(arg);
  driver.setup_tasks(kMany, kNever, std::move(config));
  driver.run_tasks(0, kMany / 2);
  driver.run_tasks(kMany / 2, kMany / 2);
  ASSERT_TRUE(driver.run_until([&] { return driver.results.size() == kMany; }));
  for (std::uint32_t task = 0; task < kMany; task++) {
    EXPECT_EQ(driver.results[task].task(), task);
    EXPECT_EQ(text_of(driver.results[task]), fmt::format("task {} of {}, run 1\n", task, kMany));
  }
  EXPECT_LT(driver.result_frames, kMany);
  EXPECT_TRUE(driver.promoted.empty());
  EXPECT_TRUE(driver.images.empty());
  EXPECT_TRUE(driver.effects.empty());
}

// However a task ends, those after it begin from the same state.
class TasksThatEnd : public Tasks, public ::testing::WithParamInterface<std::tuple<const char*, wire::Level>> {};

TEST_P(TasksThatEnd, DoNotChangeThoseAfterThem) {
  const std::string what = std::get<0>(GetParam());
  begin(what, "3", kNever, std::get<1>(GetParam()));
  driver.run_tasks(0, kTasks);
  ASSERT_TRUE(wait_for_results(kTasks));
  for (std::uint32_t task = 0; task < kTasks; task++)
    if (task != 3) expect_plain(task);
  const Effect::End& end = result_of(3)->effects().rbegin()->end();
  EXPECT_EQ(text_of(*result_of(3)), line_of(3));
  EXPECT_EQ(end.reason(), what == "trap" ? Effect::End::TRAPPED : Effect::End::EXITED) << end.sentence();
  EXPECT_EQ(end.exit_code(), what == "exit" ? 7u : 0u);
  EXPECT_TRUE(driver.promoted.empty());
}

INSTANTIATE_TEST_SUITE_P(Ends, TasksThatEnd,
                         testing::Combine(testing::Values("exit", "trap", "grow", "nap", "clock", "checkpoint"),
                                          testing::Values(wire::Level::off, wire::Level::fine)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + (std::get<1>(info.param) == wire::Level::off ? "_off" : "_fine");
                         });

TEST_F(Tasks, ATaskThatRunsLongBecomesAThreadWhereItIs) {
  begin("spin", "3", kSoon);
  driver.run_tasks(0, kTasks);
  ASSERT_TRUE(wait_for_promotion());
  ASSERT_TRUE(wait_for_results(kTasks - 1));  // on the other lane
  EXPECT_EQ(driver.promoted, std::vector<std::uint32_t>{3});
  EXPECT_TRUE(driver.effects.empty()) << "it was not adopted yet";
  driver.adopt(thread_of(3));
  ASSERT_TRUE(driver.run_until([&] { return driver.output(thread_of(3)) == line_of(3); }));
  driver.ask(Ask::checkpoint, thread_of(3));
  ASSERT_TRUE(driver.run_until([&] { return driver.images.size() == 1; }));
  driver.ask(Ask::checkpoint, thread_of(3));
  ASSERT_TRUE(driver.run_until([&] { return driver.images.size() == 2; }));
  EXPECT_LT(driver.images[1].memory->bytes().size(), driver.images[0].memory->bytes().size());  // the changes only
  driver.ask(Ask::terminate, thread_of(3));
  ASSERT_TRUE(driver.run_to_end(thread_of(3)));
  EXPECT_EQ(driver.end_of(thread_of(3))->reason(), Effect::End::TERMINATED);
  EXPECT_EQ(result_of(3), nullptr);
}

TEST_F(Tasks, APromotedTaskMovesToAnotherWorker) {
  begin("spin", "0", kSoon);
  driver.run_tasks(0, 1);
  ASSERT_TRUE(wait_for_promotion());
  driver.adopt(thread_of(0));
  driver.ask(Ask::suspend, thread_of(0));
  ASSERT_TRUE(driver.run_until([&] { return driver.images.size() == 1; }));
  WorkerDriver second;
  second.load(build_guest("any_task"));
  second.restore(thread_of(0), 2, *driver.images[0].memory);
  second.ask(Ask::terminate, thread_of(0));
  EXPECT_TRUE(second.run_to_end(thread_of(0)));
  EXPECT_EQ(second.end_of(thread_of(0))->reason(), Effect::End::TERMINATED);
  driver.run_tasks(1, 2);  // the lanes are free
  ASSERT_TRUE(wait_for_results(2));
}

TEST_F(Tasks, AForkWaitsUntilItsTaskIsAdopted) {
  begin("fork", "1", kNever);
  driver.run_tasks(0, kTasks);
  ASSERT_TRUE(wait_for_promotion());
  ASSERT_TRUE(wait_for_results(kTasks - 1));
  EXPECT_TRUE(driver.effects.empty());
  EXPECT_TRUE(driver.images.empty());
  driver.adopt(thread_of(1));
  ASSERT_TRUE(driver.run_to_end(thread_of(1)));
  EXPECT_EQ(driver.output(thread_of(1)), line_of(1) + "parent\n");
  ASSERT_EQ(std::ranges::count_if(driver.effects, &Effect::has_spawn), 1);
  EXPECT_EQ(driver.early_spawns, 0u);
}

class TasksWithOutput : public Tasks, public ::testing::WithParamInterface<wire::Level> {};

// Level off cannot park: it becomes a thread by time.
TEST_P(TasksWithOutput, BecomeThreadsWhenTheirGateIsFull) {
  begin("flood", "2", GetParam() == wire::Level::off ? std::chrono::nanoseconds(kSoon) : std::chrono::nanoseconds(kNever), GetParam());
  driver.run_tasks(0, kTasks);
  ASSERT_TRUE(wait_for_promotion());
  EXPECT_EQ(driver.promoted, std::vector<std::uint32_t>{2});
  EXPECT_TRUE(driver.effects.empty());
  driver.adopt(thread_of(2));
  ASSERT_TRUE(driver.run_to_end(thread_of(2)));
  EXPECT_EQ(driver.output(thread_of(2)).size(), line_of(2).size() + 32 * 65536);
  std::uint64_t sequence = 0;
  for (const Effect& effect : driver.effects) EXPECT_EQ(effect.sequence(), ++sequence);
}

INSTANTIATE_TEST_SUITE_P(Levels, TasksWithOutput, testing::Values(wire::Level::off, wire::Level::fine),
                         [](const auto& info) { return std::string(info.param == wire::Level::off ? "off" : "fine"); });

// A replay begins at the beginning of the task, so the choices made before its promotion count as well.
TEST_F(Tasks, APromotedTaskRecordsItsDeterminantsSinceItsBeginning) {
  begin("clock_fork", "0", kNever);
  driver.run_tasks(0, 1);
  ASSERT_TRUE(wait_for_promotion());
  EXPECT_TRUE(driver.determinants(thread_of(0)).empty());
  driver.adopt(thread_of(0));
  ASSERT_TRUE(driver.run_to_end(thread_of(0)));
  EXPECT_EQ(driver.end_of(thread_of(0))->exit_code(), 0u);
  ASSERT_GE(driver.determinants(thread_of(0)).size(), 3u);
  EXPECT_EQ(driver.determinants(thread_of(0))[0].index(), 0u);
}

// The standard input of a task of an array is a file of its own, or empty: reading it waits for nobody.
TEST_F(Tasks, ATaskThatReadsItsEmptyInputStaysATask) {
  begin("read", "0", kNever);
  driver.run_tasks(0, 1);
  ASSERT_TRUE(wait_for_results(1));
  EXPECT_TRUE(driver.promoted.empty());
  EXPECT_EQ(driver.wanted_inputs, 0u);
  const TaskResult& result = driver.results.front();
  ASSERT_GT(result.effects_size(), 0);
  EXPECT_EQ(result.effects(result.effects_size() - 1).end().exit_code(), 5u);
}

TEST_F(Tasks, ALongSleepIsPromotedAtOnceAndItsLaneGoesOn) {
  begin("sleep", "all", std::chrono::seconds(30));
  driver.run_tasks(0, kTasks);
  ASSERT_TRUE(driver.run_until([&] { return driver.promoted.size() == kTasks; }));
  EXPECT_TRUE(driver.results.empty());
}

TEST_F(Tasks, DroppedTasksHaveNoResult) {
  WorkerDriver one({.pool_threads = 1});
  one.load(build_guest("any_task"));
  wire::pb::ThreadConfig config;
  for (const char* arg : {"any_task", "spin", "0"}) config.add_args(arg);
  one.setup_tasks(kTasks, kNever, std::move(config));
  one.run_tasks(0, kTasks);
  ASSERT_TRUE(one.run_until([&] { return one.worker->running_tasks() == std::vector<std::uint32_t>{0}; }));
  one.drop_tasks(2, 3);
  one.drop_tasks(0, 1);
  ASSERT_TRUE(one.run_until([&] { return !one.results.empty() && one.results.back().task() == kTasks - 1; }));
  EXPECT_EQ(one.results.size(), kTasks - 4u);
  EXPECT_EQ(one.results.front().task(), 1u);
  EXPECT_TRUE(one.promoted.empty());
  one.run_tasks(2, 1);
  ASSERT_TRUE(one.run_until([&] { return one.results.back().task() == 2; }));
}

TEST_F(Tasks, APromotedTaskCanBeDroppedAndRunAgain) {
  begin("spin", "0", kSoon);
  driver.run_tasks(0, 1);
  ASSERT_TRUE(wait_for_promotion());
  driver.drop_tasks(0, 1);  // too late
  driver.run_tasks(0, 1);   // and so it does not run twice
  driver.run_tasks(1, 3);
  ASSERT_TRUE(wait_for_results(3));
  EXPECT_EQ(driver.promoted.size(), 1u);
  driver.ask(Ask::drop, thread_of(0));
  driver.run_tasks(0, 1);
  ASSERT_TRUE(driver.run_until([&] { return driver.promoted.size() == 2; }));
  EXPECT_TRUE(driver.effects.empty());
}

// The lane of a thread that runs takes no task; the other one does.
TEST_F(Tasks, EndWhileTheirLaneIsSharedWithAThread) {
  begin("spin", "all", kSoon);
  driver.run_tasks(0, 2);
  ASSERT_TRUE(driver.run_until([&] { return driver.promoted.size() == 2; }));
  driver.run_tasks(2, 1);
  driver.ask(Ask::drop, thread_of(0));
  ASSERT_TRUE(driver.run_until([&] { return driver.promoted.size() == 3; }));
  EXPECT_EQ(driver.promoted.back(), 2u);
}

TEST_F(Tasks, ADeadWorkerSaysWhichTasksRan) {
  begin("spin", "all", kNever);
  driver.run_tasks(4, 4);
  ASSERT_TRUE(driver.run_until([&] { return driver.worker->running_tasks().size() == 2; }));
  ::kill(driver.worker->pid(), SIGKILL);
  ASSERT_TRUE(driver.run_until_death());
  auto tasks = driver.worker->death()->tasks;
  std::ranges::sort(tasks);
  EXPECT_EQ(tasks, (std::vector<std::uint32_t>{4, 5}));
}

TEST(TaskLimits, HoldForEachTask) {
  wire::pb::Limits limits;
  limits.set_cpu_time_ns(100'000'000);
  WorkerDriver driver({.guest_limits = limits});
  driver.load(build_guest("any_task"));
  wire::pb::ThreadConfig config;
  for (const char* arg : {"any_task", "spin", "2"}) config.add_args(arg);
  driver.setup_tasks(5, kNever, std::move(config));
  driver.run_tasks(0, 5);
  ASSERT_TRUE(driver.run_until([&] { return driver.results.size() == 5; }));
  for (const TaskResult& result : driver.results)
    EXPECT_EQ(result.effects().rbegin()->end().reason(), result.task() == 2 ? Effect::End::LIMIT : Effect::End::EXITED);
}

TEST(TaskInputs, AreReadByEachTaskAndFetchedOnce) {
  WorkerDriver driver;
  driver.load(build_guest("any_task"));
  wire::pb::ThreadConfig config;
  for (const char* arg : {"any_task", "file", "all"}) config.add_args(arg);
  wire::pb::InputEntry& entry = *config.add_inputs();
  const std::string content = "content";
  const Hash256 hash = sha256(as_bytes(content));
  entry.set_path("in/data");
  entry.set_size(content.size());
  entry.add_chunks(hash.bytes.data(), hash.bytes.size());
  driver.setup_tasks(20, kNever, std::move(config));
  driver.run_tasks(0, 20);
  ASSERT_TRUE(driver.run_until([&] { return !driver.other.empty() && driver.other.back().has_want_chunk(); }));
  ToWorker chunk;
  chunk.mutable_chunk()->set_hash(hash.bytes.data(), hash.bytes.size());
  chunk.mutable_chunk()->set_bytes(content);
  driver.send(chunk);
  ASSERT_TRUE(driver.run_until([&] { return driver.results.size() == 20; }));
  for (const TaskResult& result : driver.results) EXPECT_EQ(text_of(result), fmt::format("task {} of 20, run 1\ncontent\n", result.task()));
  EXPECT_EQ(std::ranges::count_if(driver.other, &FromWorker::has_want_chunk), 1);
  EXPECT_TRUE(driver.promoted.empty());
}

// A manifest that no instance can be made of: each task says so.
TEST(TaskInputs, ThatCannotBeAreTheFaultOfTheJob) {
  WorkerDriver driver;
  driver.load(build_guest("any_task"));
  wire::pb::ThreadConfig config;
  for (int i = 0; i < 2; i++) config.add_inputs()->set_path("twice");
  driver.setup_tasks(3, kNever, std::move(config));
  driver.run_tasks(0, 3);
  ASSERT_TRUE(driver.run_until([&] { return driver.results.size() == 3; }));
  for (const TaskResult& result : driver.results) {
    EXPECT_EQ(result.effects(0).end().reason(), Effect::End::TRAPPED);
    EXPECT_NE(result.effects(0).end().sentence().find("given twice"), std::string::npos) << result.effects(0).end().sentence();
  }
}

TEST_F(Tasks, ThatDoNotExistAreRefused) {
  begin("nothing", "none", kNever);
  driver.run_tasks(kTasks - 1, 2);
  ASSERT_TRUE(driver.run_until_death());
  EXPECT_NE(driver.worker->death()->sentence.find("the job has 12"), std::string::npos) << driver.worker->death()->sentence;
}

}  // namespace
}  // namespace gw::test
