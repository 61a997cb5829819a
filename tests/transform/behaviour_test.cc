// Properties of the passes that only a run can show.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "prep/prep.h"
#include "prep/test/test_support.h"
#include "transform/program_run.h"

namespace gw::transform {
namespace {

using prep::Verify;
using wire::Level;

// $show prints the 8 bytes of its argument in hexadecimal, lowest byte first.
constexpr const char* kPrelude = R"((module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "godwit" "checkpoint" (func $checkpoint))
  (memory $memory {pages})
  (data (i32.const 16) "\40\00\00\00\11\00\00\00")
  (data (i32.const 48) "\80\00\00\00\08\00\00\00")
  (func $digit (param i32) (result i32)
    (i32.add (local.get 0) (select (i32.const 48) (i32.const 87) (i32.lt_u (local.get 0) (i32.const 10)))))
  (func $show (param $value i64) (local $i i32) (local $byte i32)
    (loop $next
      (local.set $byte (i32.and (i32.wrap_i64 (local.get $value)) (i32.const 255)))
      (i32.store8 offset=64 (local.get $i) (call $digit (i32.shr_u (local.get $byte) (i32.const 4))))
      (i32.store8 offset=65 (local.get $i) (call $digit (i32.and (local.get $byte) (i32.const 15))))
      (local.set $value (i64.shr_u (local.get $value) (i64.const 8)))
      (br_if $next (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 2))) (i32.const 16))))
    (i32.store8 offset=80 (i32.const 0) (i32.const 32))
    (drop (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 24))))
  (export "memory" (memory $memory))
  (export "_start" (func $start))
  {program}))";

class Behaviour : public ::testing::Test {
 protected:
  enum class Moved : std::uint8_t { no, at_every_poll };

  static constexpr unsigned kPages = 64;

  // Prepares and runs it: the output, and how it ended.
  static std::string run(const std::string& program, const prep::Options& options, Moved moved = Moved::no) {
    const Bytes wasm = prep::test::assemble(fmt::format(fmt::runtime(kPrelude), fmt::arg("pages", kPages), fmt::arg("program", program)));
    auto prepared = prep::process(wasm, options);
    if (!prepared) return prepared.error().detail;
    auto module = stage().engine().load(std::move(prepared->wasm));
    if (!module) return module.error().detail;
    auto run = ProgramRun::start(stage(), *module).value();
    while (run->can_go_on()) {
      run->resume(moved == Moved::no ? std::nullopt : std::optional(1u));  // tests the poll it stopped at again: one more is one further
      if (moved == Moved::no || !run->can_go_on()) continue;
      if (Status done = run->move(); !done) return done.error().detail;
    }
    return run->outcome();
  }

  // The outcome of every way to run it, which must be the same.
  static std::string outcome(const std::string& program) {
    const std::string expected = run(program, {.level = Level::off});
    EXPECT_EQ(run(program, {.level = Level::coarse}), expected) << "coarse";
    EXPECT_EQ(run(program, {}), expected) << "fine";
    EXPECT_EQ(run(program, {}, Moved::at_every_poll), expected) << "fine, moved at every poll";
    return expected;
  }

  static Stage& stage() {
    static Stage stage;
    return stage;
  }
};

TEST_F(Behaviour, LargeOverlappingCopiesAreRightInBothDirections) {
  std::string marks, shows;
  for (unsigned at = 0; at < 3u << 20; at += 150'001)
    marks += fmt::format("(i64.store (i32.const {}) (i64.const {}))", at + 4096, at * 31 + 7);
  for (unsigned at = 0; at < 3u << 20; at += 150'001) shows += fmt::format("(call $show (i64.load (i32.const {})))", at + 4096);
  const std::string up = "(memory.copy (i32.const 5120) (i32.const 4096) (i32.const 3145728))";
  const std::string down = "(memory.copy (i32.const 4096) (i32.const 5120) (i32.const 3145728))";
  const std::string fill = "(memory.fill (i32.const 1000000) (i32.const 85) (i32.const 1500000))";
  EXPECT_EQ(outcome("(func $start " + marks + up + "(call $show (i64.load (i32.const 5120)))" + down + shows + ")").substr(0, 17),
            "0700000000000000 ");
  outcome("(func $start " + marks + fill + up + shows + ")");
}

TEST_F(Behaviour, AParkedCallIsMadeAgainWithTheSameArguments) {
  EXPECT_EQ(outcome(R"((func $start (local $x i32)
    (local.set $x (i32.const 48))
    (local.set $x (call $fd_read (i32.const 0) (local.get $x) (i32.const 1) (i32.const 56)))
    (call $show (i64.extend_i32_u (local.get $x)))
    (call $show (i64.load32_u (i32.const 56)))))"),
            "0000000000000000 0800000000000000 exited with code 0\n");
}

// With these entries there are so many of one signature that its calls stay indirect (prep/analysis/known_targets.h); without, they do not.
const std::string kManyMore = " $other $other $other $other $other $other $other $other $other";

TEST_F(Behaviour, AParkedCallThroughTheTableGoesOn) {
  for (const std::string& others : {std::string(), kManyMore}) {
    EXPECT_EQ(outcome("(table $t 10 funcref) (elem (i32.const 0) $checkpoint" + others + R"() (func $other)
      (func $start (call_indirect (i32.load (i32.const 4096))) (call $show (i64.const 1))))"),
              "0100000000000000 exited with code 0\n");
  }
}

TEST_F(Behaviour, ABranchCarriesTheValueThatWasEvaluatedForIt) {
  EXPECT_EQ(outcome(R"((func $site (param i32) (result i32) (call $checkpoint) (local.get 0))
    (func $start (call $show (block $out (result i64)
      (br_if $out (i64.const 1)
        (block (result i32)
          (drop (br_if $out (i64.const 2) (call $site (i32.const 0))))
          (call $site (i32.const 1))))))))"),
            "0100000000000000 exited with code 0\n");
}

TEST_F(Behaviour, AnIndexOutsideTheTableStillTraps) {
  for (const std::string& others : {std::string(), kManyMore}) {
    const std::string text = outcome("(table $t 10 funcref) (elem (i32.const 0) $f" + others + R"() (func $other)
      (func $f (call $checkpoint))
      (func $start (call $show (i64.const 1)) (call_indirect (i32.add (i32.load (i32.const 4096)) (i32.const 10)))))");
    EXPECT_NE(text.find("trapped"), std::string::npos) << text;
  }
}

// Calls with few possible targets are made direct; any other pointer must end the program as before, with the same message. A single target
// is compared, five go through a jump table with a hole in it.
TEST_F(Behaviour, AWrongFunctionPointerTrapsAsWithoutThePreProcessor) {
  for (const std::string& entries : {std::string("$right $wrong"), std::string("$right $right $wrong $right $right $right")}) {
    for (const char* wrong : {"-1", "0", "3", "7", "8", "9", "10", "11", "13", "-2147483648"}) {
      const std::string text = outcome(fmt::format(R"((table $t 10 funcref) (elem (i32.const 1) {})
        (func $right (param i64) (call $checkpoint) (call $show (local.get 0)))
        (func $wrong (param i32) (call $show (i64.const 3)))
        (func $start
          (call_indirect (param i64) (i64.const 1) (i32.add (i32.load (i32.const 4096)) (i32.const 1)))
          (call_indirect (param i64) (i64.const 2) (i32.add (i32.load (i32.const 4096)) (i32.const {})))))",
                                                   entries, wrong));
      EXPECT_EQ(text.substr(0, 17), "0100000000000000 ");
      EXPECT_NE(text.find("trapped"), std::string::npos) << text;
    }
  }
}

TEST_F(Behaviour, SmallFunctionsInPlaceOfTheirCallsStartWithLocalsOfZero) {
  EXPECT_EQ(outcome(R"((table $t 1 funcref) (elem (i32.const 0) $count)
    (func $count (result i64) (local $n i64)
      (if (i64.ne (local.get $n) (i64.const 0)) (return (i64.const -1)))
      (local.set $n (i64.const 1))
      (local.get $n))
    (func $twice (param $depth i32) (result i64) (local $n i64)
      (call $checkpoint)
      (if (i32.eqz (local.get $depth)) (return (i64.const 1)))
      (local.set $n (i64.add (local.get $n) (call $twice (i32.sub (local.get $depth) (i32.const 1)))))
      (i64.add (local.get $n) (call $twice (i32.sub (local.get $depth) (i32.const 1)))))
    (func $start (local $i i32)
      (loop $l
        (call $show (call_indirect (result i64) (i32.load (i32.const 4096))))
        (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 2))))
      (call $show (call $twice (i32.const 5)))))"),
            "0100000000000000 0100000000000000 2000000000000000 exited with code 0\n");
}

// Found by a random program: the second operand, which is never evaluated, came to life with a counter that others had taken for unused.
TEST_F(Behaviour, CodeAfterAnOperandThatNeverEndsStaysDead) {
  EXPECT_EQ(outcome(R"((func $start (local $i i32)
    (block $out
      (drop (i64.le_u
        (loop $never (result i64) (br_table $out $never $out (i32.const 0)))
        (block (result i64)
          (local.set $i (i32.const 7))
          (loop $l
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $l (i32.ne (i32.const 10) (local.get $i))))
          (i64.const 1)))))
    (call $show (i64.const 1))))"),
            "0100000000000000 exited with code 0\n");
}

TEST_F(Behaviour, TheStartFunctionRunsOnce) {
  EXPECT_EQ(outcome(R"((start $init) (global $runs (mut i64) (i64.const 0))
    (func $init (call $checkpoint) (global.set $runs (i64.add (global.get $runs) (i64.const 1))))
    (func $start (call $checkpoint) (call $show (global.get $runs))))"),
            "0100000000000000 exited with code 0\n");
}

TEST_F(Behaviour, MemorySizeDoesNotShowTheUnwindStack) {
  EXPECT_EQ(outcome(R"((func $start
    (call $checkpoint)
    (call $show (i64.extend_i32_u (memory.grow (i32.const 2))))
    (call $checkpoint)
    (i64.store (i32.const 4194304) (i64.const 5))
    (call $show (i64.extend_i32_u (memory.size)))
    (call $checkpoint)
    (call $show (i64.load (i32.const 4194304)))))"),
            "4000000000000000 4200000000000000 0500000000000000 exited with code 0\n");
}

TEST_F(Behaviour, DeepRecursionIsRebuilt) {
  EXPECT_EQ(outcome(R"((func $down (param $n i64) (result i64)
      (if (i64.eqz (local.get $n)) (block (call $checkpoint) (return (i64.const 0))))
      (i64.add (local.get $n) (call $down (i64.sub (local.get $n) (i64.const 1)))))
    (func $start (call $show (call $down (i64.const 150)))))"),
            "3d2c000000000000 exited with code 0\n");
}

// The same NaN computed in different ways: with --verify its bits are always the same.
TEST_F(Behaviour, VerifiedNansHaveTheSameBits) {
  const char* nans[] = {
      "(f32.div (local.get $zero) (local.get $zero))",
      "(f32.neg (f32.div (local.get $zero) (local.get $zero)))",
      "(f32.sub (f32.div (f32.const 1) (local.get $zero)) (f32.div (f32.const 1) (local.get $zero)))",
      "(f32.sqrt (f32.const -1))",
      "(f32.demote_f64 (f64.div (f64.const 0) (f64.promote_f32 (local.get $zero))))",
      "(f32x4.extract_lane 2 (f32x4.div (f32x4.splat (local.get $zero)) (f32x4.splat (local.get $zero))))",
  };
  const char* observers[] = {
      "(call $show (i64.extend_i32_u (i32.reinterpret_f32 {})))",
      "(block (f32.store (i32.const 4096) {}) (call $show (i64.load32_u (i32.const 4096))))",
      "(call $show (i64.extend_i32_u (i32x4.extract_lane 1 (f32x4.splat {}))))",
      "(call $show (i64.extend_i32_u (i32x4.extract_lane 3 (f32x4.replace_lane 3 (f32x4.splat (local.get $zero)) {}))))",
  };
  std::string body, expected;
  for (const char* nan : nans) {
    for (const char* observer : observers) {
      body += fmt::format(fmt::runtime(observer), nan);
      expected += "0000c07f00000000 ";
    }
  }
  const std::string program = "(func $start (local $zero f32) (local.set $zero (f32.load (i32.const 8192)))" + body + ")";
  for (Level level : {Level::off, Level::coarse, Level::fine})
    EXPECT_EQ(run(program, {.level = level, .verify = Verify::yes}), expected + "exited with code 0\n");
}

// Expected values are what the specification of wasm's exceptions says: no engine here runs them as they are.

TEST_F(Behaviour, AnExceptionComesToTheNearestClauseThatTakesIt) {
  EXPECT_EQ(outcome(R"((tag $a (param i64)) (tag $b)
    (func $throw (param i32) (call $checkpoint) (if (local.get 0) (throw $a (i64.const 5))) (throw $b))
    (func $middle (param i32) (try (do (call $throw (local.get 0))) (catch $b (call $show (i64.const 1)))))
    (func $start (local $n i32)
      (loop $again
        (try (do (call $middle (local.get $n)) (call $show (i64.const 2))) (catch $a (call $show (pop i64))))
        (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 2))))))"),
            "0100000000000000 0200000000000000 0500000000000000 exited with code 0\n");
}

TEST_F(Behaviour, AHandlerIsSuspendedAndRethrowsWhatItHasCaught) {
  EXPECT_EQ(outcome(R"((tag $a (param i64)) (tag $b (param f64))
    (func $throw (param i64) (call $checkpoint) (throw $a (local.get 0)))
    (func $middle
      (try $outer (do (call $throw (i64.const 7)))
        (catch_all
          (try (do (call $throw (i64.const 8))) (catch $a (call $show (pop i64)) (call $checkpoint)))
          (call $checkpoint)
          (rethrow $outer))))
    (func $start (try (do (call $middle)) (catch $a (call $show (pop i64))))))"),
            "0800000000000000 0700000000000000 exited with code 0\n");
}

TEST_F(Behaviour, DelegateSkipsTheClausesInBetween) {
  EXPECT_EQ(outcome(R"((tag $a (param i64))
    (func $throw (call $checkpoint) (throw $a (i64.const 9)))
    (func $start
      (try $out
        (do (try (do (try (do (call $throw)) (delegate $out))) (catch_all (call $show (i64.const 1)))))
        (catch $a (call $show (pop i64))))))"),
            "0900000000000000 exited with code 0\n");
}

TEST_F(Behaviour, OperandsBelowACallThatThrowsAreForgotten) {
  EXPECT_EQ(outcome(R"((tag $a (param i64))
    (func $throw (param i64) (result i64) (call $checkpoint) (if (i64.eqz (local.get 0)) (throw $a (i64.const 3))) (local.get 0))
    (func $start
      (call $show (i64.add (i64.const 10) (try (result i64) (do (i64.mul (i64.const 2) (call $throw (i64.const 4)))) (catch $a (pop i64)))))
      (call $show (i64.add (i64.const 10) (try (result i64) (do (i64.mul (i64.const 2) (call $throw (i64.const 0)))) (catch $a (pop i64)))))))"),
            "1200000000000000 0d00000000000000 exited with code 0\n");
}

TEST_F(Behaviour, AnExceptionThroughTheTableIsCaught) {
  for (const std::string& others : {std::string(), kManyMore}) {
    EXPECT_EQ(outcome("(tag $a (param i64)) (table $t 12 funcref) (elem (i32.const 0) $throw $checkpoint" + others + R"() (func $other)
      (func $throw (call $checkpoint) (throw $a (i64.const 6)))
      (func $start (try (do (call_indirect (i32.load (i32.const 4096)))) (catch $a (call $show (pop i64))))))"),
              "0600000000000000 exited with code 0\n");
  }
}

// Two threads take turns three times each. Between a switch and thread_frames the memory grows.
TEST_F(Behaviour, ThreadsOfTheGuestTakeTurns) {
  const std::string program = R"(
    (import "godwit" "thread_run" (func $run (param i32 i32 i32 i32) (result i32)))
    (import "godwit" "thread_switch" (func $switch))
    (import "godwit" "thread_frames" (func $frames (param i32)))
    (table $t 3 3 funcref)
    (elem (i32.const 1) $thread)
    (func $deeper (param $id i32) (param $i i32)
      (call $switch)
      (call $show (i64.extend_i32_u (i32.add (i32.mul (local.get $id) (i32.const 16)) (local.get $i)))))
    (func $thread (param $id i32) (local $i i32)
      (loop $next
        (call $deeper (local.get $id) (local.get $i))
        (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 3)))))
    (func $turn (param $id i32) (result i32) (local $at i32) (local $bytes i32)
      (local.set $at (i32.shl (local.get $id) (i32.const 12)))
      (local.set $bytes
        (call $run (i32.const 1) (local.get $id) (i32.add (local.get $at) (i32.const 4)) (i32.load (local.get $at))))
      (i32.store (local.get $at) (local.get $bytes))
      (drop (memory.grow (i32.const 1)))
      (call $frames (i32.add (local.get $at) (i32.const 4)))
      (i32.ne (local.get $bytes) (i32.const 0)))
    (func $start (local $alive i32)
      (loop $next
        (local.set $alive (call $turn (i32.const 1)))
        (br_if $next (i32.or (call $turn (i32.const 2)) (local.get $alive))))
      (call $show (i64.extend_i32_u (memory.size)))))";
  const std::string expected = run(program, {.level = Level::coarse});
  for (const char* shown : {"10", "20", "11", "21", "12", "22", "48"})  // the last one: 64 pages and eight turns
    EXPECT_NE(expected.find(fmt::format("{}00000000000000 ", shown)), std::string::npos) << expected;
  EXPECT_EQ(run(program, {}), expected);
  EXPECT_EQ(run(program, {}, Moved::at_every_poll), expected);
  EXPECT_EQ(run(program, {.verify = Verify::yes}, Moved::at_every_poll), expected);
}

}  // namespace
}  // namespace gw::transform
