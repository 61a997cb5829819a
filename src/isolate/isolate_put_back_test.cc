#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "isolate/isolate.h"
#include "isolate/test/guests.h"

namespace gw::isolate {
namespace {

// The number of arguments says what it does besides: counts in its memory and in a global, draws random numbers, makes a file, and prints
// counters, random numbers and the number of its arguments as 20 bytes.
constexpr std::string_view kImports = R"(
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_create_directory" (func $mkdir (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
)";
constexpr std::string_view kProgram = R"(
  (global $mine (export "godwit.g1") (mut i32) (i32.const 5))
  (data (i32.const 70000) "\29")
  (data (i32.const 80000) "made")
  (func $print
    (drop (call $args_sizes_get (i32.const 216) (i32.const 400)))
    (drop (call $random_get (i32.const 208) (i32.const 8)))
    (i32.store (i32.const 200) (i32.load (i32.const 70000)))
    (i32.store (i32.const 204) (global.get $mine))
    (i32.store (i32.const 300) (i32.const 200))
    (i32.store (i32.const 304) (i32.const 20))
    (drop (call $fd_write (i32.const 1) (i32.const 300) (i32.const 1) (i32.const 308))))
  (func $fill (local $at i32)  ;; every 4 KiB from 128 KiB on, adding up what was there
    (local.set $at (i32.const 131072))
    (loop $next
      (i32.store (i32.const 70000) (i32.add (i32.load (i32.const 70000)) (i32.load (local.get $at))))
      (i32.store (local.get $at) (i32.const 1))
      (local.set $at (i32.add (local.get $at) (i32.const 4096)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 1310720)))))
  (func (export "_start") (local $what i32)
    (i32.store (i32.const 70000) (i32.add (i32.load (i32.const 70000)) (i32.const 1)))
    (global.set $mine (i32.add (global.get $mine) (i32.const 1)))
    (if (call $mkdir (i32.const 3) (i32.const 80000) (i32.const 4)) (then (call $exit (i32.const 99))))
    (drop (call $args_sizes_get (i32.const 216) (i32.const 400)))
    (local.set $what (i32.load (i32.const 216)))
    (if (i32.eq (local.get $what) (i32.const 2)) (then (call $fill)))
    (if (i32.eq (local.get $what) (i32.const 3)) (then (global.set $mine (memory.grow (i32.const 1)))))
    (call $print)
    (if (i32.eq (local.get $what) (i32.const 4)) (then (call $exit (i32.const 3))))
    (if (i32.eq (local.get $what) (i32.const 5)) (then unreachable))
    (if (i32.eq (local.get $what) (i32.const 6)) (then (loop $again (br $again)))))
)";
enum What : std::size_t { kCount = 1, kFill, kGrow, kLeave, kTrap, kSpin };

wire::ModuleInfo info_of_program() {
  wire::ModuleInfo info = test::cell_info();
  info.globals.push_back(wire::ValueType::i32);
  return info;
}

class PutBack : public ::testing::Test {
 protected:
  // Prints where each run says, so that the output of runs does not mix.
  class Output final : public OutputSink {
   public:
    Status write(ByteView bytes) override {
      text += as_text(bytes);
      return ok();
    }
    std::string text;
  };

  IsolateHost host() { return {world.input, output, output, world.clock, world.determinants, world.chunks}; }
  static GuestStart start(std::size_t what, std::uint8_t seed) {
    GuestStart start{.args = std::vector<std::string>(what, "argument"), .env = {}, .random_seed = {}};
    start.random_seed[0] = seed;
    return start;
  }
  std::unique_ptr<Isolate> make() {
    auto made = Isolate::make(test::engine(), *world.thread, module, {.limits = {.cpu_time = std::chrono::milliseconds(50)}}, host());
    EXPECT_TRUE(made) << made.error().detail;
    return *std::move(made);
  }
  std::string run(Isolate& isolate, std::size_t what, std::uint8_t seed) {
    output.text.clear();
    EXPECT_TRUE(isolate.set_start(start(what, seed)));
    const Stop stop = isolate.resume();
    return fmt::format("{}: {}", describe(stop), Hash256(sha256(as_bytes(output.text))).hex());
  }

  test::World world;
  Output output;
  const std::shared_ptr<const Module> module = test::load(test::mobile_guest(kImports, kProgram, info_of_program(), 20));
};

TEST_F(PutBack, ARunDoesNotDependOnThoseBefore) {
  std::vector<std::string> alone(kSpin + 1);
  for (std::size_t what = kCount; what <= kSpin; what++) alone[what] = run(*make(), what, static_cast<std::uint8_t>(what));
  EXPECT_THAT(alone[kCount], ::testing::StartsWith("exited with code 0"));
  EXPECT_THAT(alone[kLeave], ::testing::StartsWith("exited with code 3"));
  EXPECT_THAT(alone[kTrap], ::testing::StartsWith("trapped"));
  EXPECT_THAT(alone[kSpin], ::testing::HasSubstr("CPU"));
  auto warm = make();
  auto point = warm->freeze();
  ASSERT_TRUE(point) << point.error().detail;
  std::mt19937 random(7);
  for (int i = 0; i < 200; i++) {
    const std::size_t what = 1 + random() % (i % 20 == 0 ? kSpin : kTrap);
    EXPECT_EQ(run(*warm, what, static_cast<std::uint8_t>(what)), alone[what]) << "run " << i << " does " << what;
    const bool put_back = warm->put_back(*point);
    EXPECT_EQ(put_back, what == kCount || what == kFill || what == kLeave) << what;
    if (put_back) continue;
    auto fresh = Isolate::make(test::engine(), *world.thread, *point, host());
    ASSERT_TRUE(fresh) << fresh.error().detail;
    warm = *std::move(fresh);
  }
}

TEST_F(PutBack, AnIsolateThatWasEndedIsNotPutBack) {
  auto warm = make();
  auto point = warm->freeze();
  ASSERT_TRUE(point);
  run(*warm, kCount, 1);
  EXPECT_TRUE(warm->put_back(*point));
  warm->terminate();
  EXPECT_FALSE(warm->put_back(*point));
}

// Suspended, its stack is in its memory; then it goes on, returns, and is put back.
TEST_F(PutBack, ARunThatWasSuspendedIsPutBackToo) {
  const auto summing = test::load(test::summing_guest(wire::Poll::counter));
  const auto sum_of = [&](Isolate& isolate) {
    output.text.clear();
    while (can_resume(isolate.resume({.polls = 300'000}))) {
    }
    return output.text;
  };
  const auto fresh = [&] { return *Isolate::make(test::engine(), *world.thread, summing, {.args = {"one"}}, host()); };
  const std::string alone = sum_of(*fresh());
  auto warm = fresh();
  auto point = warm->freeze();
  ASSERT_TRUE(point);
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(sum_of(*warm), alone);
    EXPECT_TRUE(warm->put_back(*point));
  }
}

TEST_F(PutBack, AStartThatBreaksALimitIsRefused) {
  auto isolate = make();
  const Status set = isolate->set_start({.args = {std::string("a\0b", 3)}, .env = {}, .random_seed = {}});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().kind, Kind::invalid);
}

// A module of level off has globals that nobody can reach.
TEST_F(PutBack, AModuleThatIsNotMobileIsMadeAnew) {
  const auto plain = test::load(test::plain_guest(R"((memory (export "memory") 1) (func (export "_start")))"));
  auto isolate = Isolate::make(test::engine(), *world.thread, plain, {}, host());
  ASSERT_TRUE(isolate);
  auto point = (*isolate)->freeze();
  ASSERT_TRUE(point);
  (*isolate)->resume();
  EXPECT_FALSE((*isolate)->put_back(*point));
}

// Data that an instruction copies, and may drop, is state of the instance that nothing puts back.
TEST_F(PutBack, AModuleWithPassiveDataIsMadeAnew) {
  const auto passive = test::load(test::mobile_guest("", R"((data "text") (func (export "_start")))"));
  EXPECT_FALSE(passive->restartable());
  EXPECT_TRUE(module->restartable());
}

}  // namespace
}  // namespace gw::isolate
