#include "isolate/task_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <random>
#include <thread>

#include "isolate/test/guests.h"

namespace gw::isolate {
namespace {

// A counter at 70000 that the constructors set to 41, and functions that spoil the state in different ways.
constexpr std::string_view kTaskImports = R"(
  (import "godwit" "task_next" (func $next (param i32 i32) (result i32)))
  (import "godwit" "task_argument" (func $argument (param i32 i32) (result i32)))
  (import "godwit" "task_result" (func $result (param i32 i32) (result i32)))
  (import "godwit" "report" (func $report (param i32 i32) (result i32)))
  (import "godwit" "fork" (func $fork (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
)";
constexpr std::string_view kTasks = R"(
  (table 10 funcref)
  (elem (i32.const 1) $count $fill $grow $random $trap $leave $forking $spin)
  (func $answer (param $value i32)
    (i32.store (i32.const 300) (local.get $value))
    (drop (call $result (i32.const 300) (i32.add (i32.const 4) (i32.load (i32.const 104))))))
  (func $count
    (i32.store (i32.const 70000) (i32.add (i32.load (i32.const 70000)) (i32.const 1)))
    (call $answer (i32.load (i32.const 70000))))
  (func $fill (local $at i32)  ;; every 4 KiB, adding up what was there
    (local $sum i32)
    (local.set $at (i32.const 8192))
    (loop $next
      (local.set $sum (i32.add (local.get $sum) (i32.load (local.get $at))))
      (i32.store (local.get $at) (i32.const 1))
      (local.set $at (i32.add (local.get $at) (i32.const 4096)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 1310720))))
    (call $answer (local.get $sum)))
  (func $grow (drop (memory.grow (i32.const 1))) (call $answer (memory.size)))
  (func $random (drop (call $random_get (i32.const 400) (i32.const 4))) (call $answer (i32.load (i32.const 400))))
  (func $trap unreachable)
  (func $leave (call $exit (i32.const 3)))
  (func $forking (call $answer (call $fork (i32.const 400))))
  (func $spin (drop (call $report (i32.const 0) (i32.const 0))) (loop $again (br $again)))
  (func (export "_start") unreachable)
  (func (export "godwit_task_init") (i32.store (i32.const 70000) (i32.const 41)))
  (func (export "godwit_task_run")
    (if (call $next (i32.const 100) (i32.const 104)) (then unreachable))
    (drop (call $argument (i32.const 304) (i32.load (i32.const 104))))
    (call_indirect (i32.load (i32.const 100))))
)";
enum Function : std::uint32_t { kNone, kCount, kFill, kGrow, kRandom, kTrap, kLeave, kForking, kSpin };

class TaskHostTest : public ::testing::Test {
 protected:
  std::unique_ptr<TaskHost> make(IsolateConfig config = {}) {
    auto made = TaskHost::make(test::engine(), *world.thread, module, std::move(config), world.host());
    EXPECT_TRUE(made) << made.error().detail;
    return *std::move(made);
  }
  // The number a task answers, or the error.
  static std::string outcome(TaskHost& tasks, std::uint32_t function) {
    auto result = tasks.call(function, {});
    if (!result) return result.error().detail;
    std::uint32_t number = 0;
    EXPECT_EQ(result->size(), sizeof number);
    std::memcpy(&number, result->data(), std::min(result->size(), sizeof number));
    return std::to_string(number);
  }

  test::World world;
  const std::shared_ptr<const Module> module = test::load(test::mobile_guest(kTaskImports, kTasks, test::cell_info(), 20));
};

TEST_F(TaskHostTest, CallsAFunctionWithItsArgument) {
  auto tasks = make();
  auto result = tasks->call(kCount, as_bytes("argument"));
  ASSERT_TRUE(result) << result.error().detail;
  EXPECT_EQ(as_text(*result), std::string("\x2a\0\0\0", 4) + "argument");
}

TEST_F(TaskHostTest, NoCallSeesWhatAnotherLeft) {
  auto tasks = make();
  std::vector<std::string> alone(kForking + 1);
  for (std::uint32_t function = kNone; function <= kForking; function++) alone[function] = outcome(*make(), function);
  EXPECT_EQ(alone[kCount], "42");
  EXPECT_EQ(alone[kFill], "0");
  EXPECT_EQ(alone[kGrow], "21");
  EXPECT_EQ(alone[kTrap], "the task trapped in trap: unreachable code executed");
  EXPECT_EQ(alone[kLeave], "the task exited with code 3");
  EXPECT_EQ(alone[kForking], "6");
  std::mt19937 random(7);
  for (int i = 0; i < 300; i++) {
    auto function = static_cast<std::uint32_t>(random() % alone.size());
    EXPECT_EQ(outcome(*tasks, function), alone[function]) << "call " << i << " of function " << function;
  }
}

TEST_F(TaskHostTest, ACallHasItsLimitsForItself) {
  auto tasks = make({.limits = {.cpu_time = std::chrono::milliseconds(30)}});
  for (int i = 0; i < 3; i++) {
    EXPECT_THAT(outcome(*tasks, kSpin), ::testing::HasSubstr("CPU"));
    EXPECT_EQ(outcome(*tasks, kCount), "42");
  }
}

// Signals when the call has begun, so that the test need not guess.
class Reporter final : public ThreadHost {
 public:
  std::uint64_t id() const override { return 1; }
  Status report(ByteView) override {
    begun.count_down();
    return ok();
  }
  std::latch begun{1};
};

TEST_F(TaskHostTest, ACallCanBeEndedFromOutside) {
  Reporter reporter;
  IsolateHost outside{world.input, world.output, world.errors, world.clock, world.determinants, world.chunks, reporter};
  auto tasks = TaskHost::make(test::engine(), *world.thread, module, {}, outside);
  ASSERT_TRUE(tasks) << tasks.error().detail;
  std::jthread other([&] {
    reporter.begun.wait();
    (*tasks)->end_call();
  });
  EXPECT_EQ(outcome(**tasks, kSpin), "the task terminated");
  EXPECT_EQ(outcome(**tasks, kCount), "42");
}

TEST_F(TaskHostTest, RefusesAProgramWithoutTasks) {
  auto other = test::load(test::summing_guest(wire::Poll::cell));
  auto made = TaskHost::make(test::engine(), *world.thread, other, {}, world.host());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, Kind::invalid);
  EXPECT_THAT(made.error().detail, ::testing::HasSubstr("godwit/task.h"));
}

TEST_F(TaskHostTest, ConstructorsThatFailAreTheGuestsFault) {
  constexpr std::string_view kBroken = R"(
    (memory (export "memory") 1)
    (func (export "_start")) (func (export "godwit_task_run")) (func $broken (export "godwit_task_init") unreachable))";
  auto made = TaskHost::make(test::engine(), *world.thread, test::load(test::plain_guest(kBroken)), {}, world.host());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, Kind::guest_fault);
}

}  // namespace
}  // namespace gw::isolate
