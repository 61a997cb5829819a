// The worker process through the eyes of its parent.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "job/effects/effect_gate.h"
#include "wire/image/image.h"
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
  for (std::size_t i = 0; i < driver.effects.size(); i++) EXPECT_EQ(driver.effects[i].sequence(), i + 1);  // all of one stream
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

// Without acknowledgements the outbox fills and the guest waits; it can still be suspended with everything it wrote.
TEST(Worker, AProgramThatWaitsForAFullOutboxCanBeSuspended) {
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

// There is a single lane, and a thread that waits for room does not hold it: the other thread runs, and a request is answered at once.
class WorkerWithoutRoom : public testing::TestWithParam<const char*> {};

TEST_P(WorkerWithoutRoom, ParksTheThreadAndNotItsLane) {
  WorkerDriver driver({.acknowledge = false});
  driver.load(build_guest(GetParam()));
  driver.start(1);  // without end
  const auto is_full = [&] { return driver.output().size() >= (4u << 20) || driver.determinants().size() >= 65536; };
  ASSERT_TRUE(driver.run_until(is_full));
  driver.start(2, {"guest", "3"});
  ASSERT_TRUE(driver.run_until([&] { return driver.stopped == 1; }));
  driver.ask(Ask::suspend, 1);
  ASSERT_TRUE(driver.run_until([&] { return driver.images.size() == 1; }));
  EXPECT_EQ(driver.failed, 0u) << "the patience of a request was over";
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

// The determinants are acknowledged, but only an image makes room for more of them.
TEST(Worker, AThreadWaitsForAnImageAfterAsManyDeterminantsAsItsHostSays) {
  constexpr std::uint32_t kReadings = 1000;
  WorkerDriver driver({.keep_images = true, .determinants_after_image = kReadings});
  driver.load(build_guest("clock_flood"));
  driver.start(1, {"guest", std::to_string(2 * kReadings)});
  ASSERT_TRUE(driver.run_until([&] { return driver.determinants().size() == kReadings; }));
  const std::size_t before = driver.images.size();
  driver.ask(Ask::checkpoint, 1);
  ASSERT_TRUE(driver.run_until([&] { return driver.images.size() == before + 1; }));
  EXPECT_EQ(driver.determinants().size(), kReadings);
  ToWorker stable;
  stable.mutable_image_stable()->set_thread(1);
  stable.mutable_image_stable()->set_image(driver.images.back().frame.image().id());
  driver.send(stable);
  ASSERT_TRUE(driver.run_to_end());
  EXPECT_EQ(driver.end_of()->exit_code(), 7u);
  EXPECT_EQ(driver.determinants().size(), 2 * kReadings);
}

TEST(Worker, TerminatesAProgramThatWaitsInPlaceForRoom) {
  WorkerDriver driver({.acknowledge = false});
  driver.load(build_guest("output_flood", wire::Level::off));
  driver.start(1);
  ASSERT_TRUE(driver.run_until([&] { return driver.output().size() >= (4u << 20); }));
  driver.ask(Ask::terminate, 1);
  ASSERT_TRUE(driver.run_to_end());
  EXPECT_EQ(driver.end_of()->reason(), Effect::End::TERMINATED);
}

std::ptrdiff_t forks(const WorkerDriver& driver, std::uint64_t thread = 1) {
  return std::ranges::count_if(driver.effects, [&](const Effect& effect) { return effect.has_spawn() && effect.thread() == thread; });
}

// The driver does not acknowledge output: the program can fork all the same, and waits before it prints more.
TEST(Worker, AFullStreamToHomeDoesNotStopAFork) {
  constexpr std::size_t kBlocks = 64, kBlock = 65536;  // 4 MiB
  WorkerDriver driver({.silent = {wire::kHomeStream}});
  driver.load(build_guest("two_streams"));
  driver.start(1, {"two_streams", "home", std::to_string(kBlocks)});
  ASSERT_TRUE(driver.run_until([&] { return forks(driver) == 1; }));
  driver.ask(Ask::suspend, 1);
  ASSERT_TRUE(driver.run_until([&] { return driver.images.size() == 1; }));
  EXPECT_EQ(driver.output().size(), kBlocks * kBlock) << "the line has to wait";
  EXPECT_EQ(driver.end_of(1), nullptr);
}

// The driver does not acknowledge the forks of an earlier run: the program can print all the same, and waits before it forks again.
TEST(Worker, AFullLogDoesNotStopAnOutput) {
  const std::uint64_t kForks = job::EffectGate::Config().outbox_spawns;
  WorkerDriver driver({.silent = {wire::kLogStream}});
  driver.load(build_guest("two_streams"));
  driver.start_again(1, {"two_streams", "log", std::to_string(kForks)}, {.stored = {{wire::kLogStream, kForks + 1}}});
  ASSERT_TRUE(driver.run_until([&] { return driver.output() == "line\n"; }));
  driver.ask(Ask::suspend, 1);
  ASSERT_TRUE(driver.run_until([&] { return driver.images.size() == 1; }));
  EXPECT_EQ(forks(driver), static_cast<std::ptrdiff_t>(kForks)) << "the last one has to wait";
}

// A thread whose forks are not acknowledged has ended, and reports its end only after they are.
TEST(Worker, TheEndOfAThreadWaitsForItsLog) {
  WorkerDriver driver({.silent = {wire::kLogStream}});
  driver.load(build_guest("two_streams"));
  driver.start(1, {"two_streams", "log", "1"});
  ASSERT_TRUE(driver.run_until([&] { return driver.stopped == 1 && forks(driver) == 2 && driver.output() == "line\n"; }));
  EXPECT_EQ(driver.end_of(1), nullptr);
  ToWorker stored;
  stored.mutable_stored()->set_thread(1);
  wire::write(wire::StreamMarks{{wire::kLogStream, 2}}, *stored.mutable_stored()->mutable_streams());
  driver.send(stored);
  ASSERT_TRUE(driver.run_to_end(1));
  EXPECT_EQ(driver.end_of(1)->exit_code(), 7u);
}

// Stopped may come before the effects of the thread, so those count.
std::ptrdiff_t ends(const WorkerDriver& driver) {
  return std::ranges::count_if(driver.effects, [](const Effect& effect) { return effect.has_end(); });
}

std::vector<const node::WorkerProcess::Received*> first_images(const WorkerDriver& driver) {
  std::vector<const node::WorkerProcess::Received*> list;
  for (const auto& image : driver.images)
    if (image.frame.image().why() == FromWorker::Image::SPAWNED) list.push_back(&image);
  return list;
}

std::vector<Effect> spawns(const WorkerDriver& driver) {
  std::vector<Effect> list;
  std::ranges::copy_if(driver.effects, std::back_inserter(list), &Effect::has_spawn);
  return list;
}

TEST(Worker, AChildWaitsUntilItIsRestored) {
  WorkerDriver driver({.pool_threads = 2});
  driver.load(build_guest("fork_tree"));
  driver.start(1, {"fork_tree", "3"});
  ASSERT_TRUE(driver.run_to_end(1));
  EXPECT_EQ(ends(driver), 1);
  ASSERT_EQ(spawns(driver).size(), 3u);
  const auto images = first_images(driver);
  ASSERT_EQ(images.size(), 3u);
  std::set<std::string> printed;
  for (std::size_t i : {2u, 0u, 1u}) {
    const std::uint64_t child = spawns(driver)[i].spawn().child();
    driver.restore(child, 1, *images[i]->memory);
    ASSERT_TRUE(driver.run_to_end(child));
    printed.insert(driver.output(child));
  }
  EXPECT_EQ(printed, (std::set<std::string>{"child 0\n", "child 1\n", "child 2\n"}));
  EXPECT_EQ(driver.output(1), "parent\n");
}

TEST(Worker, AChildGoesOnInAnotherProcess) {
  const Bytes wasm = build_guest("fork_tree");
  WorkerDriver first;
  first.load(wasm);
  first.start(1, {"fork_tree", "1"});
  ASSERT_TRUE(first.run_to_end(1));
  ASSERT_EQ(first_images(first).size(), 1u);
  const std::uint64_t child = spawns(first)[0].spawn().child();

  WorkerDriver second;
  second.load(wasm);
  second.restore(child, 4, *first_images(first)[0]->memory);
  ASSERT_TRUE(second.run_to_end(child));
  EXPECT_EQ(second.output(child), "child 0\n");
  EXPECT_EQ(second.effects.back().epoch(), 4u);
}

// There are many forks, so that one of them is likely to meet the loop while it collects what may leave.
TEST(Worker, ASpawnComesAfterTheImageOfItsChild) {
  constexpr std::size_t kForks = 16;
  const Bytes wasm = build_guest("fork_tree");
  for (const bool keep_images : {false, true}) {
    WorkerDriver driver({.keep_images = keep_images});
    driver.load(wasm);
    driver.start(1, {"fork_tree", std::to_string(kForks)});
    ASSERT_TRUE(driver.run_to_end(1));
    EXPECT_EQ(driver.early_spawns, 0u);
    const auto images = first_images(driver);
    const auto spawned = spawns(driver);
    ASSERT_EQ(images.size(), kForks);
    ASSERT_EQ(spawned.size(), kForks);
    for (std::size_t i = 0; i < kForks; i++) {
      EXPECT_EQ(images[i]->frame.image().thread(), 1u);
      EXPECT_EQ(images[i]->frame.image().spawn(), spawned[i].sequence());
      EXPECT_EQ(images[i]->frame.image().id(), spawned[i].spawn().image());
    }
  }
}

TEST(Worker, RefusesForksBeyondTheLimitAndDoesSoAgainInAReplay) {
  const Bytes wasm = build_guest("fork_tree");
  WorkerDriver::Options options;
  options.guest_limits.set_threads(3);
  WorkerDriver driver(std::move(options));
  driver.load(wasm);
  driver.start(1, {"fork_tree", "10000"});
  ASSERT_TRUE(driver.run_to_end(1));
  EXPECT_EQ(driver.end_of(1)->reason(), Effect::End::EXITED);
  EXPECT_EQ(driver.end_of(1)->exit_code(), 1u);  // it saw a fork fail
  EXPECT_EQ(spawns(driver).size(), 3u);

  WorkerDriver replay;
  replay.load(wasm);
  replay.start_again(1, {"fork_tree", "10000"}, {.determinants = driver.determinants(), .stored = {{wire::kLogStream, 3}}});
  ASSERT_TRUE(replay.run_to_end(1));
  EXPECT_EQ(replay.end_of(1)->exit_code(), 1u);
  EXPECT_EQ(spawns(replay).size(), 3u);
}

// The driver does not acknowledge spawns, so the program waits inside the call.
TEST(Worker, ForksWaitForHome) {
  WorkerDriver driver({.acknowledge = false});
  driver.load(build_guest("fork_tree"));
  driver.start(1, {"fork_tree", "100"});
  ASSERT_TRUE(driver.run_until([&] { return spawns(driver).size() == job::EffectGate::Config().outbox_spawns; }));
  driver.ask(Ask::suspend, 1);
  ASSERT_TRUE(driver.run_until([&] { return driver.images.back().frame.image().why() == FromWorker::Image::SUSPENDED; }));
  EXPECT_EQ(first_images(driver).size(), job::EffectGate::Config().outbox_spawns);
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

// With and without threads in the guest.
class WorkerOfTasks : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Guests, WorkerOfTasks, ::testing::Values("square_task", "threads_task"));

TEST_P(WorkerOfTasks, CarriesOutTasksEachFromTheSameState) {
  WorkerDriver driver;
  driver.load(build_guest(GetParam()));
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
