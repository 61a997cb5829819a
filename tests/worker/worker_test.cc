// The worker process through the eyes of its parent.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "os/clock.h"
#include "wire/image.h"
#include "worker_driver.h"

namespace gw::test {
namespace {

using Ask = WorkerDriver::Ask;
using node::DeathCause;
using wire::pb::Effect;
using wire::pb::FromWorker;
using wire::pb::ToWorker;

TEST(Worker, SaysWhatHoldsIt) {
  WorkerDriver driver;
  ASSERT_TRUE(driver.run_until([&] { return driver.worker->ready(); }));
  const auto& held = driver.worker->held_by();
  EXPECT_NE(std::ranges::find(held, "seccomp"), held.end());
  EXPECT_NE(std::ranges::find(held, "no_new_privs"), held.end());
}

TEST(Worker, RunsAProgramToItsEnd) {
  WorkerDriver driver;
  driver.load(build_guest("echo"));
  driver.start(1, {"echo", "one", "two"});
  driver.input(1, 0, "");
  ASSERT_TRUE(driver.run_to_end());
  EXPECT_EQ(driver.output(), "one\ntwo\n");
  EXPECT_EQ(driver.end_of()->reason(), Effect::End::EXITED);
  EXPECT_EQ(driver.end_of()->exit_code(), 3u);  // one for each argument
  ASSERT_TRUE(driver.run_until([&] { return driver.stopped == 1; }));
  for (std::size_t i = 0; i < driver.effects.size(); i++) EXPECT_EQ(driver.effects[i].sequence(), i + 1);
}

TEST(Worker, AsksForInputAndTakesItPieceByPiece) {
  WorkerDriver driver;
  driver.load(build_guest("echo"));
  driver.start(1, {"echo"});
  ASSERT_TRUE(driver.run_until([&] { return driver.wanted_inputs == 1; }));
  driver.input(1, 0, "hello ");
  ASSERT_TRUE(driver.run_until([&] { return driver.wanted_inputs == 2; }));
  driver.input(1, 1, "world");
  driver.input(1, 2, "");
  ASSERT_TRUE(driver.run_to_end());
  EXPECT_EQ(driver.output(), "hello world");
}

TEST(Worker, SuspendsAndGoesOnInAnotherProcess) {
  const Bytes wasm = build_guest("echo");
  WorkerDriver first;
  first.load(wasm);
  first.start(1, {"echo"});
  ASSERT_TRUE(first.run_until([&] { return first.wanted_inputs == 1; }));
  first.input(1, 0, "first ");
  ASSERT_TRUE(first.run_until([&] { return first.output() == "first "; }));
  first.ask(Ask::suspend, 1);
  ASSERT_TRUE(first.run_until([&] { return first.images.size() == 1; }));
  EXPECT_EQ(first.images[0].frame.image().why(), FromWorker::Image::SUSPENDED);

  WorkerDriver second;
  second.load(wasm);
  second.restore(1, 2, *first.images[0].memory);
  ASSERT_TRUE(second.run_until([&] { return second.wanted_inputs == 1; }));
  EXPECT_EQ(second.other.back().want_input().piece(), 1u);
  second.input(1, 1, "second");
  second.input(1, 2, "");
  ASSERT_TRUE(second.run_to_end());
  EXPECT_EQ(second.output(), "second");
  EXPECT_EQ(second.effects.back().epoch(), 2u);
}

TEST(Worker, SuspendsAComputation) {
  WorkerDriver driver;
  driver.load(build_guest("empty_loop"));
  driver.start(1);
  ASSERT_TRUE(driver.run_until([&] { return driver.loaded == 1; }));
  driver.ask(Ask::suspend, 1);
  EXPECT_TRUE(driver.run_until([&] { return driver.images.size() == 1; }));
}

TEST(Worker, CheckpointsAreIncrementalAndTheProgramGoesOn) {
  WorkerDriver driver({.keep_images = true});
  driver.load(build_guest("echo"));
  driver.start(1, {"echo"});
  ASSERT_TRUE(driver.run_until([&] { return driver.wanted_inputs == 1; }));
  ASSERT_EQ(driver.images.size(), 1u);  // before its first instruction
  driver.input(1, 0, "x");
  ASSERT_TRUE(driver.run_until([&] { return driver.wanted_inputs == 2; }));
  driver.ask(Ask::checkpoint, 1);
  ASSERT_TRUE(driver.run_until([&] { return driver.images.size() == 2; }));
  EXPECT_EQ(driver.images[1].frame.image().why(), FromWorker::Image::CHECKPOINT);
  driver.input(1, 1, "");
  ASSERT_TRUE(driver.run_to_end());
  EXPECT_EQ(driver.output(), "x");
}

TEST(Worker, ThreadsTakeTurnsOnAPoolThread) {
  WorkerDriver driver;
  driver.load(build_guest("empty_loop"));
  for (std::uint64_t id = 1; id <= 3; id++) driver.start(id);
  // The loop never ends by itself; each is reached all the same.
  for (std::uint64_t id = 1; id <= 3; id++) driver.ask(Ask::suspend, id);
  EXPECT_TRUE(driver.run_until([&] { return driver.images.size() == 3; }));
}

TEST(Worker, TerminatesAProgram) {
  WorkerDriver driver;
  driver.load(build_guest("empty_loop"));
  driver.start(1);
  ASSERT_TRUE(driver.run_until([&] { return driver.loaded == 1; }));
  driver.ask(Ask::terminate, 1);
  ASSERT_TRUE(driver.run_to_end());
  EXPECT_EQ(driver.end_of()->reason(), Effect::End::TERMINATED);
}

// Nobody acknowledges: the outbox fills, the guest waits, and can still be suspended with everything it wrote.
TEST(Worker, AFullOutboxMakesTheProgramWaitButNotUnstoppable) {
  WorkerDriver driver({.acknowledge = false});
  driver.load(build_guest("output_flood"));
  driver.start(1);
  std::size_t sent = 0;
  ASSERT_TRUE(driver.run_until([&] {
    sent = driver.output().size();
    return sent >= (4u << 20);
  }));
  driver.ask(Ask::suspend, 1);
  ASSERT_TRUE(driver.run_until([&] { return driver.images.size() == 1; }));
  EXPECT_LT(driver.output().size(), 6u << 20);
  auto image = wire::Image::decode(Bytes(driver.images[0].memory->bytes().begin(), driver.images[0].memory->bytes().end()));
  ASSERT_TRUE(image);
  EXPECT_GE(image->content().job_state.size(), 4u << 20);
}

// One lane, and the thread that waits for room does not hold it: the other one runs, and a request is answered at once.
class WorkerWithoutRoom : public testing::TestWithParam<const char*> {};

TEST_P(WorkerWithoutRoom, ParksTheThreadAndNotItsLane) {
  WorkerDriver driver({.acknowledge = false});
  driver.load(build_guest(GetParam()));
  driver.start(1);  // without end
  const auto is_full = [&] { return driver.output().size() >= (4u << 20) || driver.determinants().size() >= 65536; };
  ASSERT_TRUE(driver.run_until(is_full));
  driver.start(2, {"guest", "3"});
  ASSERT_TRUE(driver.run_until([&] { return driver.stopped == 1; }));
  const auto begin = os::monotonic_now();
  driver.ask(Ask::suspend, 1);
  ASSERT_TRUE(driver.run_until([&] { return driver.images.size() == 1; }));
  EXPECT_LT(os::monotonic_now() - begin, std::chrono::seconds(10)) << "before the patience of a request is over";
  EXPECT_EQ(driver.failed, 0u);
  EXPECT_EQ(driver.end_of(1), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Outlets, WorkerWithoutRoom, testing::Values("output_flood", "clock_flood"),
                         [](const auto& info) { return std::string(info.param); });

class WorkerWithRoomAgain : public testing::TestWithParam<std::tuple<const char*, wire::Level>> {};

TEST_P(WorkerWithRoomAgain, LetsTheProgramGoOn) {
  WorkerDriver driver;
  driver.load(build_guest(std::get<0>(GetParam()), std::get<1>(GetParam())));
  driver.start(1, {"guest", std::get<0>(GetParam()) == std::string_view("clock_flood") ? "200000" : "200"});
  ASSERT_TRUE(driver.run_to_end());
  EXPECT_EQ(driver.end_of()->exit_code(), 7u);
}

INSTANTIATE_TEST_SUITE_P(Levels, WorkerWithRoomAgain,
                         testing::Combine(testing::Values("output_flood", "clock_flood"),
                                          testing::Values(wire::Level::off, wire::Level::fine)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + (std::get<1>(info.param) == wire::Level::off ? "_off" : "_fine");
                         });

TEST(Worker, TerminatesAProgramThatWaitsInPlaceForRoom) {
  WorkerDriver driver({.acknowledge = false});
  driver.load(build_guest("output_flood", wire::Level::off));
  driver.start(1);
  ASSERT_TRUE(driver.run_until([&] { return driver.output().size() >= (4u << 20); }));
  driver.ask(Ask::terminate, 1);
  ASSERT_TRUE(driver.run_to_end());
  EXPECT_EQ(driver.end_of()->reason(), Effect::End::TERMINATED);
}

// Stopped may come before the effects of the thread, so those count.
std::ptrdiff_t ends(const WorkerDriver& driver) {
  return std::ranges::count_if(driver.effects, [](const Effect& effect) { return effect.has_end(); });
}

TEST(Worker, ForkedThreadsRunBesideTheirParent) {
  WorkerDriver driver({.pool_threads = 2});
  driver.load(build_guest("fork_tree"));
  driver.start(1, {"fork_tree", "3"});
  ASSERT_TRUE(driver.run_until([&] { return ends(driver) == 4; }));
  std::set<std::uint64_t> threads;
  for (const Effect& effect : driver.effects) threads.insert(effect.thread());
  std::set<std::string> printed;
  for (const std::uint64_t thread : threads) printed.insert(driver.output(thread));
  EXPECT_EQ(printed, (std::set<std::string>{"parent\n", "child 0\n", "child 1\n", "child 2\n"}));
}

TEST(Worker, AForkComesAfterTheImageOfItsChild) {
  WorkerDriver driver({.keep_images = true});
  driver.load(build_guest("fork_tree"));
  driver.start(1, {"fork_tree", "1"});
  ASSERT_TRUE(driver.run_until([&] { return ends(driver) == 2; }));
  const auto fork = std::ranges::find_if(driver.effects, [](const Effect& effect) { return effect.has_fork(); });
  ASSERT_NE(fork, driver.effects.end());
  const auto image =
      std::ranges::find_if(driver.images, [](const auto& one) { return one.frame.image().why() == FromWorker::Image::FORKED; });
  ASSERT_NE(image, driver.images.end());
  EXPECT_EQ(image->frame.image().thread(), fork->fork().child());
  EXPECT_EQ(image->frame.image().id(), fork->fork().image());
}

TEST(Worker, RefusesForksBeyondTheLimitOfThreads) {
  WorkerDriver::Options options;
  options.guest_limits.set_threads(3);
  WorkerDriver driver(std::move(options));
  driver.load(build_guest("fork_tree"));
  driver.start(1, {"fork_tree", "10000"});
  ASSERT_TRUE(driver.run_to_end(1));
  EXPECT_EQ(driver.end_of(1)->reason(), Effect::End::EXITED);
  EXPECT_EQ(driver.end_of(1)->exit_code(), 1u);  // it saw a fork fail
}

TEST(Worker, HandsOutFilesBeforeTheEnd) {
  WorkerDriver driver;
  driver.load(build_guest("write_file"));
  driver.start(1, {"write_file", "out.txt"}, {"out.txt"});
  ASSERT_TRUE(driver.run_to_end());
  ASSERT_GE(driver.effects.size(), 2u);
  const Effect& file = driver.effects[driver.effects.size() - 2];
  ASSERT_TRUE(file.has_file());
  EXPECT_EQ(file.file().path(), "out.txt");
  EXPECT_EQ(file.file().bytes(), "content\n");
  EXPECT_TRUE(file.file().last());
}

TEST(Worker, CarriesOutTasksEachFromTheSameState) {
  WorkerDriver driver;
  driver.load(build_guest("square_task"));
  driver.start_tasks(1);
  ASSERT_TRUE(driver.run_until([&] { return !driver.output(1).empty(); }));
  for (int number = 1; number <= 3; number++) {
    ToWorker frame;
    frame.mutable_call_task()->set_thread(1);
    frame.mutable_call_task()->set_call(static_cast<std::uint64_t>(number));
    frame.mutable_call_task()->set_function(static_cast<std::uint32_t>(std::stoul(driver.output(1))));
    frame.mutable_call_task()->set_argument(&number, sizeof number);
    driver.send(frame);
    ASSERT_TRUE(driver.run_until(
        [&] { return driver.other.back().has_task_done() && driver.other.back().task_done().call() == frame.call_task().call(); }));
    const auto& done = driver.other.back().task_done();
    EXPECT_EQ(done.error(), "");
    const int expected[2] = {number * number, 1};
    EXPECT_EQ(done.result(), std::string(reinterpret_cast<const char*>(expected), sizeof expected));
  }
}

TEST(Worker, SaysThatAProgramHasNoTasks) {
  WorkerDriver driver;
  driver.load(build_guest("echo"));
  driver.start_tasks(1);
  ToWorker frame;
  frame.mutable_call_task()->set_thread(1);
  frame.mutable_call_task()->set_call(7);
  driver.send(frame);
  // This program offers none: the thread says so, and so does each call.
  ASSERT_TRUE(driver.run_until([&] { return !driver.other.empty() && driver.other.back().has_task_done(); }));
  EXPECT_EQ(driver.failed, 1u);
  EXPECT_EQ(driver.other.back().task_done().call(), 7u);
  EXPECT_FALSE(driver.other.back().task_done().error().empty());
}

TEST(Worker, RefusesAModuleThatIsNone) {
  WorkerDriver driver;
  driver.load(as_bytes("this is no module"));
  ASSERT_TRUE(driver.run_until([&] { return driver.failed == 1; }));
  EXPECT_TRUE(driver.other.back().failed().guest_fault());
}

TEST(Worker, EndsWhenItIsToldTo) {
  WorkerDriver driver;
  ToWorker frame;
  frame.mutable_shutdown();
  driver.send(frame);
  ASSERT_TRUE(driver.run_until_death());
  EXPECT_EQ(driver.cause(), DeathCause::finished);
}

// A parent that is confused gets told, and the worker does not guess.
TEST(Worker, EndsItselfWhenTheParentBreaksTheProtocol) {
  WorkerDriver driver;
  driver.load(build_guest("echo"));
  driver.start(1);
  driver.start(1);
  ASSERT_TRUE(driver.run_until_death());
  EXPECT_EQ(driver.cause(), DeathCause::engine_fault);
  EXPECT_NE(driver.worker->death()->sentence.find("thread 1 is here already"), std::string::npos) << driver.worker->death()->sentence;
}

// Determinants that do not begin with the first: that thread fails, and the worker goes on with others.
TEST(Worker, AThreadThatCannotBeMadeIsNotTheEndOfOthers) {
  WorkerDriver driver;
  driver.load(build_guest("clock_lines"));
  wire::pb::Determinant late;
  late.set_index(5);
  driver.start_again(2, {"guest"}, {.determinants = {late}});
  ASSERT_TRUE(driver.run_until([&] { return driver.failed == 1; }));
  driver.start(1);
  ASSERT_TRUE(driver.run_to_end(1));
  EXPECT_EQ(driver.cause(), DeathCause::finished);
}

TEST(Worker, ACrashInAGuestIsTheGuestsFault) {
  WorkerDriver driver;
  driver.load(build_guest("empty_loop"));
  driver.start(1);
  ASSERT_TRUE(driver.run_until([&] { return driver.worker->guests_running() == 1; }));
  ::kill(driver.worker->pid(), SIGSEGV);
  ::kill(driver.worker->pid(), SIGSEGV);
  ASSERT_TRUE(driver.run_until_death());
  EXPECT_EQ(driver.cause(), DeathCause::guest_fault) << driver.worker->death()->sentence;
}

TEST(Worker, ACrashWithoutAGuestIsTheEngines) {
  WorkerDriver driver;
  ASSERT_TRUE(driver.run_until([&] { return driver.worker->ready(); }));
  ::kill(driver.worker->pid(), SIGABRT);
  ASSERT_TRUE(driver.run_until_death());
  EXPECT_EQ(driver.cause(), DeathCause::engine_fault);
}

TEST(Worker, AWorkerThatIsNotThereIsNotFound) {
  auto worker = node::WorkerProcess::start({.program = "/nonexistent/godwit-worker"});
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().kind, Kind::not_found);
}

}  // namespace
}  // namespace gw::test
