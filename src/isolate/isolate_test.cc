#include "isolate/isolate.h"

#include <gtest/gtest.h>

#include <thread>

#include "isolate/test/guests.h"
#include "os/clock.h"

namespace gw::isolate {
namespace {

using namespace std::chrono_literals;
using test::World;

constexpr std::string_view kSumOfOneMillion = "sum=6a4ae6e0\n";  // 999999 * 1000000 / 2, low 32 bits
constexpr std::string_view kEndlessLoop = R"((memory (export "memory") 1) (func (export "_start") (loop $l (br $l))))";

// A request to suspend has this patience where the guest is to reach a poll: on a busy machine the watchdog would pause it first.
constexpr std::chrono::hours kNoPause{1};
constexpr auto kWait = 30s;  // for what must happen

// A loop of this many iterations runs far longer than a test waits.
IsolateConfig endless() { return {.args = std::vector<std::string>(10000)}; }

// Runs `isolate` while `other` acts from another thread a little later.
template <class F>
Stop resume_while(Isolate& isolate, F other) {
  std::thread thread([&] {
    while (isolate.state() != RunState::running) std::this_thread::yield();
    std::this_thread::sleep_for(2ms);
    other();
  });
  Stop stop = isolate.resume();
  thread.join();
  return stop;
}

class IsolateWithPoll : public ::testing::TestWithParam<wire::Poll> {
 protected:
  World world;
  std::shared_ptr<const Module> module = test::load(test::summing_guest(GetParam()));
};

TEST_P(IsolateWithPoll, IsMadeStoppedAndRunsToItsEnd) {
  auto isolate = world.make(module, {.args = {"sum"}});
  EXPECT_EQ(isolate->state(), RunState::stopped);
  EXPECT_EQ(describe(isolate->resume()), "exited with code 0");
  EXPECT_EQ(isolate->state(), RunState::ended);
  EXPECT_EQ(world.output.text(), kSumOfOneMillion);
  EXPECT_GT(isolate->cpu_time(), 0ns);
  EXPECT_EQ(describe(isolate->resume()), "exited with code 0");
}

TEST_P(IsolateWithPoll, StopsWhereItIsAndGoesOn) {
  auto isolate = world.make(module, endless());
  for (int i = 0; i < 10; i++) {
    ASSERT_EQ(describe(resume_while(*isolate, [&] { isolate->suspend(kNoPause); })), "suspended");
    ASSERT_EQ(isolate->state(), RunState::stopped);
  }
  EXPECT_EQ(world.output.text(), "");
}

TEST_P(IsolateWithPoll, AnswersARequestThatCameBeforeTheRun) {
  auto isolate = world.make(module, {.args = {"sum"}});
  isolate->suspend();
  EXPECT_EQ(describe(isolate->resume()), "suspended");
  EXPECT_EQ(describe(isolate->resume()), "exited with code 0");
}

TEST_P(IsolateWithPoll, PausesAndGoesOn) {
  auto isolate = world.make(module, endless());
  Stop stop = resume_while(*isolate, [&] {
    isolate->pause();
    EXPECT_EQ(isolate->wait_while_running(kWait), RunState::paused);
    auto before = isolate->cpu_time();
    std::this_thread::sleep_for(20ms);
    EXPECT_LT(isolate->cpu_time() - before, 5ms);
    isolate->unpause();
    isolate->suspend(kNoPause);
  });
  EXPECT_EQ(describe(stop), "suspended");
}

TEST_P(IsolateWithPoll, EndsWhenTerminatedAndLeavesItsThreadUsable) {
  auto isolate = world.make(module, endless());
  EXPECT_EQ(describe(resume_while(*isolate, [&] { isolate->terminate(); })), "terminated");
  EXPECT_EQ(isolate->state(), RunState::ended);
  EXPECT_EQ(describe(isolate->resume()), "terminated");
  EXPECT_FALSE(isolate->save());
  EXPECT_EQ(describe(world.make(module, {.args = {"sum"}})->resume()), "exited with code 0");
}

INSTANTIATE_TEST_SUITE_P(Polls, IsolateWithPoll, ::testing::Values(wire::Poll::cell, wire::Poll::counter),
                         [](const auto& info) { return std::string(wire::name(info.param)); });

TEST(Isolate, StopsAtTheExactPollItIsTold) {
  World world;
  auto module = test::load(test::summing_guest(wire::Poll::counter));
  auto isolate = world.make(module, {.args = {"sum"}});
  int stops = 0;
  Stop stop = isolate->resume({.polls = 99'999});
  for (; can_resume(stop); stop = isolate->resume({.polls = 99'999})) stops++;
  // A resumed poll is tested again, so each run but the last makes 99,999 new turns; the one that leaves the loop polls too.
  EXPECT_EQ(stops, 1'000'001 / 99'999);
  EXPECT_EQ(world.output.text(), kSumOfOneMillion);
}

TEST(Isolate, PausesAGuestThatNeverPolls) {
  World world;
  auto isolate = world.make(test::load(test::plain_guest(kEndlessLoop)));
  Stop stop = resume_while(*isolate, [&] {
    auto start = os::monotonic_now();
    isolate->suspend();
    EXPECT_EQ(isolate->wait_while_running(kWait), RunState::paused);
    EXPECT_GE(os::monotonic_now() - start, kSuspendPatience);
    isolate->terminate();
  });
  EXPECT_EQ(describe(stop), "terminated");
}

TEST(Isolate, TerminatesABusyGuestManyTimes) {
  World world;
  auto module = test::load(test::plain_guest(kEndlessLoop));
  for (int i = 0; i < 20; i++) {
    auto isolate = world.make(module);
    ASSERT_EQ(describe(resume_while(*isolate, [&] { isolate->terminate(); })), "terminated");
  }
}

TEST(Isolate, KeepsRequestsApartFromTheNextGuestOnTheThread) {
  World world;
  auto module = test::load(test::summing_guest(wire::Poll::cell));
  for (int i = 0; i < 50; i++) {
    auto first = world.make(module, {.args = {"sum"}}), second = world.make(module, {.args = {"sum"}});
    std::thread other([&] {
      first->suspend();
      first->pause();
      first->terminate();
    });
    (void)first->resume();
    Stop stop = second->resume();
    other.join();
    ASSERT_EQ(describe(stop), "exited with code 0");
  }
}

TEST(Isolate, ParksInAMobileGuestAndBlocksInAnImmobileOne) {
  constexpr std::string_view kImports = R"(
    (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32))))";
  // Sleeps for 20 ms, by one relative subscription at 200, and exits with the number of events.
  constexpr std::string_view kBody = R"(
    (func (export "_start")
      (global.set $rewinding (i32.const 0))
      (i32.store (i32.const 216) (i32.const 1))
      (i64.store (i32.const 224) (i64.const 20000000))
      (drop (call $poll_oneoff (i32.const 200) (i32.const 300) (i32.const 1) (i32.const 400)))
      (if (i32.eqz (global.get $unwinding)) (then (call $proc_exit (i32.load (i32.const 400)))))))";
  World world;
  auto mobile = world.make(test::load(test::mobile_guest(kImports, kBody)));
  Stop stop = mobile->resume();
  ASSERT_EQ(describe(stop), "parked until a time");
  auto deadline = std::get<SleepUntil>(std::get<Parked>(stop).on).deadline;
  EXPECT_EQ(describe(mobile->resume()), "parked until a time");
  std::this_thread::sleep_for(deadline - os::monotonic_now());
  EXPECT_EQ(describe(mobile->resume()), "exited with code 1");

  constexpr std::string_view kGlobals = R"(
    (memory (export "memory") 1) (global $unwinding (mut i32) (i32.const 0)) (global $rewinding (mut i32) (i32.const 0)))";
  auto immobile = world.make(test::load(test::plain_guest(fmt::format("{} {} {}", kImports, kGlobals, kBody))));
  auto start = os::monotonic_now();
  EXPECT_EQ(describe(immobile->resume()), "exited with code 1");
  EXPECT_GE(os::monotonic_now() - start, 20ms);
}

TEST(Isolate, IsSuspendedInABlockingCallBeforeItHappens) {
  // A coarse program: no polls, it only writes, again and again.
  Bytes wasm =
      test::mobile_guest(R"((import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32))))", R"(
    (func (export "_start")
      (global.set $rewinding (i32.const 0))
      (i32.store (i32.const 44) (i32.const 1))
      (loop $again
        (drop (call $fd_write (i32.const 1) (i32.const 40) (i32.const 1) (i32.const 48)))
        (br_if $again (i32.eqz (global.get $unwinding))))))");
  World world;
  auto isolate = world.make(test::load(std::move(wasm)));
  // The request may come before the first call, on a busy machine.
  do {
    ASSERT_EQ(describe(resume_while(*isolate, [&] { isolate->suspend(kNoPause); })), "suspended");
  } while (world.output.text().empty());
}

}  // namespace
}  // namespace gw::isolate
