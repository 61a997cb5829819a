// How isolates end: traps and limits.

#include <gtest/gtest.h>

#include "isolate/backtrace.h"
#include "isolate/isolate.h"
#include "isolate/test/guests.h"

namespace gw::isolate {
namespace {

using namespace std::chrono_literals;
using test::World;

struct TrapCase {
  std::string_view name;
  std::string_view body;  // of a function "_Z4workv"
  std::string_view description;
};

class Trap : public ::testing::TestWithParam<TrapCase> {};

TEST_P(Trap, SaysWhatAndWhere) {
  World world;
  auto isolate = world.make(test::load(test::plain_guest(fmt::format(R"(
      (memory (export "memory") 1) (table 2 funcref) (type $other (func (param i32))) (elem (i32.const 1) $_start)
      (func $_Z4workv {})
      (func $_start (export "_start") (call $_Z4workv)))",
                                                                     GetParam().body))));
  Stop stop = isolate->resume();
  EXPECT_EQ(describe(stop), GetParam().description);
  EXPECT_EQ(isolate->state(), RunState::ended);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Trap,
    ::testing::Values(
        TrapCase{"Unreachable", "unreachable", "trapped in work(): unreachable code executed"},
        TrapCase{"Memory", "(drop (i32.load (i32.const 65536)))", "trapped in work(): memory access out of bounds"},
        TrapCase{"FarMemory", "(drop (i32.load offset=0xfffffff0 (i32.const -1)))", "trapped in work(): memory access out of bounds"},
        TrapCase{"Divide", "(drop (i32.div_u (i32.const 1) (i32.const 0)))", "trapped in work(): integer divide by zero"},
        TrapCase{"Remainder", "(drop (i64.rem_s (i64.const 1) (i64.const 0)))", "trapped in work(): integer divide by zero"},
        TrapCase{"Overflow", "(drop (i32.div_s (i32.const 0x80000000) (i32.const -1)))",
                 "trapped in work(): integer overflow in a division"},
        TrapCase{"Float", "(drop (i32.trunc_f64_s (f64.const 1e30)))", "trapped in work(): float not representable as integer"},
        TrapCase{"Table", "(call_indirect (i32.const 7))", "trapped in work(): table access out of bounds"},
        TrapCase{"NullCall", "(call_indirect (i32.const 0))", "trapped in work(): indirect call of a null function or one of another type"},
        TrapCase{"TypeMismatch", "(call_indirect (type $other) (i32.const 3) (i32.const 1))",
                 "trapped in work(): indirect call of a null function or one of another type"},
        TrapCase{"Stack", "(call $_Z4workv)", "trapped in work(): call stack exhausted"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Backtrace, NamesTheCallsFromTheInnermostToMain) {
  World world;
  auto isolate = world.make(test::load(test::plain_guest(R"(
      (memory (export "memory") 1)
      (func $_Z6divideii (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1)))
      (func $middle (drop (call $_Z6divideii (i32.const 1) (i32.const 0))))
      (func $__main_argc_argv (call $middle))
      (func $__original_main (call $__main_argc_argv))
      (func $_start (export "_start") (call $__original_main)))")));
  EXPECT_EQ(explain(isolate->resume()),
            "trapped in divide(int, int): integer divide by zero\n  at divide(int, int)\n  at middle\n  at main"
            "\n  Build with --debug to see files and lines.");
}

TEST(Backtrace, SaysHowOftenACallRepeats) {
  World world;
  auto isolate = world.make(test::load(test::plain_guest(R"(
      (memory (export "memory") 1)
      (func $down (param i32) (if (i32.eqz (local.get 0)) (then unreachable)) (call $down (i32.sub (local.get 0) (i32.const 1))))
      (func $_start (export "_start") (call $down (i32.const 99))))")));
  EXPECT_EQ(explain(isolate->resume()),
            "trapped in down: unreachable code executed\n  at down, 100 times\n  at _start"
            "\n  Build with --debug to see files and lines.");
}

// Functions 0 to n - 1, of which each calls the next.
std::string chain_of(unsigned n, const std::string& suffix = "") {
  std::string guest = R"((memory (export "memory") 1) (func $_start (export "_start") (call $f0)" + suffix + "))";
  for (unsigned i = 0; i < n; ++i)
    guest += fmt::format("(func $f{}{} {})", i, suffix, i + 1 == n ? "unreachable" : fmt::format("(call $f{}{})", i + 1, suffix));
  return guest;
}

TEST(Backtrace, OfADeepStackHasBothEnds) {
  World world;
  const std::string text = explain(world.make(test::load(test::plain_guest(chain_of(100))))->resume());
  EXPECT_NE(text.find("\n  at f99\n  at f98"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  at f68\n  ...\n  at f6"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  at f0\n  at _start"), std::string::npos) << text;
}

TEST(Backtrace, OfLongNamesIsBounded) {
  World world;
  const std::string text = explain(world.make(test::load(test::plain_guest(chain_of(100, std::string(3000, 'n')))))->resume());
  EXPECT_LT(text.size(), kMaxBacktraceBytes + 512);
  EXPECT_NE(text.find("\n  ..."), std::string::npos) << text;
}

TEST(Backtrace, OfEndlessRecursionSaysThatThereIsMore) {
  World world;
  const std::string text = explain(world
                                       .make(test::load(test::plain_guest(R"(
      (memory (export "memory") 1) (func $a (call $b)) (func $b (call $a)) (func $_start (export "_start") (call $a)))")))
                                       ->resume());
  EXPECT_EQ(text.find("trapped in "), 0u) << text;
  EXPECT_NE(text.find(": call stack exhausted\n  at "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  and more"), std::string::npos) << text;
}

TEST(Backtrace, OfAnExitByASignal) {
  constexpr std::string_view kAborts = R"(
      (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
      (memory (export "memory") 1)
      (func $abort (call $exit (i32.const {})) unreachable)
      (func $_start (export "_start") (call $abort)))";
  World world;
  EXPECT_EQ(explain(world.make(test::load(test::plain_guest(fmt::format(kAborts, 134))))->resume()),
            "exited with code 134 (SIGABRT)\n  at abort\n  at _start\n  Build with --debug to see files and lines.");
  EXPECT_EQ(explain(world.make(test::load(test::plain_guest(fmt::format(kAborts, 3))))->resume()), "");
}

TEST(Trap, NamesTheIndexInAModuleWithoutNames) {
  Bytes wasm = test::plain_guest(R"((memory (export "memory") 1) (func (export "_start") unreachable))");
  auto sections = wire::read_sections(wasm);
  ASSERT_TRUE(sections);
  wasm.resize(sections->back().offset);  // the name section is the last
  World world;
  EXPECT_EQ(describe(world.make(test::load(wasm))->resume()), "trapped in function[0]: unreachable code executed");
}

TEST(Trap, DeepRecursionFitsTheStack) {
  World world;
  auto isolate = world.make(test::load(test::plain_guest(R"(
      (memory (export "memory") 1)
      (func $deep (param i32) (result i32)
        (if (result i32) (i32.eqz (local.get 0)) (then (i32.const 0)) (else (i32.add (i32.const 1) (call $deep (i32.sub (local.get 0) (i32.const 1)))))))
      (func (export "_start") (drop (call $deep (i32.const 500000)))))")));
  EXPECT_EQ(describe(isolate->resume()), "exited with code 0");
}

constexpr std::string_view kEndless = R"((memory (export "memory") 1) (func (export "_start") (loop $l (br $l))))";

Stop run_with(std::string_view guest, Limits limits) {
  World world;
  return world.make(test::load(test::plain_guest(guest)), {.limits = limits})->resume();
}

TEST(Limit, CpuTime) { EXPECT_EQ(describe(run_with(kEndless, {.cpu_time = 50ms})), "ended: it has used its CPU time of 0.05 s"); }

TEST(Limit, CpuTimeSaysWhereTheLoopIs) {
  constexpr std::string_view kSpins = R"(
    (memory (export "memory") 1) (func $spin (loop $l (br $l))) (func $_start (export "_start") (call $spin)))";
  EXPECT_EQ(explain(run_with(kSpins, {.cpu_time = 50ms})),
            "ended: it has used its CPU time of 0.05 s\n  at spin\n  at _start\n  Build with --debug to see files and lines.");
}

TEST(Limit, WallTime) { EXPECT_EQ(describe(run_with(kEndless, {.wall_time = 50ms})), "ended: it has run for its wall time of 0.05 s"); }

TEST(Limit, WallTimeOfAGuestThatSleepsInPlace) {
  constexpr std::string_view kSleeper = R"(
    (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (func (export "_start")
      (i32.store (i32.const 216) (i32.const 1))
      (i64.store (i32.const 224) (i64.const 60000000000))
      (drop (call $poll_oneoff (i32.const 200) (i32.const 300) (i32.const 1) (i32.const 400)))))";
  EXPECT_EQ(describe(run_with(kSleeper, {.wall_time = 50ms})), "ended: it has run for its wall time of 0.05 s");
}

TEST(Limit, MemoryOfAGuestThatNeverCallsUs) {
  constexpr std::string_view kGrower = R"(
    (memory (export "memory") 1) (func (export "_start") (drop (memory.grow (i32.const 100))) (loop $l (br $l))))";
  EXPECT_EQ(describe(run_with(kGrower, {.memory_pages = 50})), "ended: it needs more memory than its limit of 50 pages (3200 KiB)");
}

TEST(Limit, MemoryAtTheNextHostCall) {
  constexpr std::string_view kGrower = R"(
    (import "wasi_snapshot_preview1" "sched_yield" (func $sched_yield (result i32)))
    (memory (export "memory") 1) (func (export "_start") (drop (memory.grow (i32.const 100))) (drop (call $sched_yield))))";
  EXPECT_EQ(describe(run_with(kGrower, {.memory_pages = 50})), "ended: it needs more memory than its limit of 50 pages (3200 KiB)");
}

TEST(Limit, MemoryAtTheStart) {
  World world;
  auto module = test::load(test::plain_guest(R"((memory (export "memory") 60) (func (export "_start")))"));
  auto isolate = Isolate::make(test::engine(), *world.thread, module, {.limits = {.memory_pages = 50}}, world.host());
  ASSERT_FALSE(isolate);
  EXPECT_EQ(isolate.error().detail, "the isolate needs 60 pages of memory, its limit is 50");
}

TEST(Limit, Output) {
  constexpr std::string_view kChatter = R"(
    (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (func (export "_start")
      (i32.store (i32.const 4) (i32.const 100))
      (loop $l (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (br $l))))";
  EXPECT_EQ(describe(run_with(kChatter, {.output_bytes = 1000})), "ended: it has written more than its limit of 1000 bytes");
}

}  // namespace
}  // namespace gw::isolate
