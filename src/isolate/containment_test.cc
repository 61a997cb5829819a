// Tests of each part of the engine's own containment, which show what happens without it. docs/security.md has the list.

#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "isolate/isolate.h"
#include "isolate/test/guests.h"

namespace gw::isolate {
namespace {

using test::World;

void recurse_without_end(PoolThread::StackLimit limit) {
  World world;
  world.thread = test::engine().make_thread({.stack_limit = limit}).value();
  auto isolate = world.make(test::load(test::plain_guest(R"(
      (memory (export "memory") 1)
      (func $deeper (param i32) (result i32) (i32.add (local.get 0) (call $deeper (i32.add (local.get 0) (i32.const 1)))))
      (func (export "_start") (drop (call $deeper (i32.const 0)))))")));
  const Stop stop = isolate->resume();
  EXPECT_TRUE(std::holds_alternative<Trapped>(stop)) << describe(stop);
}

TEST(StackLimit, EndsEndlessRecursionInATrap) { recurse_without_end(PoolThread::StackLimit::held); }

TEST(StackLimitDeathTest, IsAllThatHoldsEndlessRecursion) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(recurse_without_end(PoolThread::StackLimit::lifted), "");
}

// Computed wherever it is needed, so that the guest's memory alone holds it.
constexpr std::size_t kPatternBytes = 64;
bool is_pattern(const std::uint8_t* at) {
  for (unsigned i = 0; i < kPatternBytes; ++i)
    if (at[i] != 65 + (i * 7 & 31)) return false;
  return true;
}

// Whether the pattern lies in the writable memory of this process, as native code sees it that no engine holds.
bool is_in_process() {
  constexpr std::uintptr_t kLargest = 1u << 30;  // larger ones are a sanitizer's
  Bytes piece(1u << 20);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0, to = 0;
    char dash = 0;
    std::string rights;
    std::istringstream(line) >> std::hex >> from >> dash >> to >> rights;
    if (!rights.starts_with("rw") || to - from > kLargest) continue;
    for (std::uintptr_t at = from; at < to; at += piece.size()) {
      iovec here{piece.data(), piece.size()}, there{reinterpret_cast<void*>(at), std::min<std::size_t>(piece.size(), to - at)};
      const ssize_t got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
      for (ssize_t i = 0; i < got; i += kPatternBytes)
        if (is_pattern(&piece[static_cast<std::size_t>(i)])) return true;
    }
  }
  return false;
}

// Nothing but the engine's addressing keeps one guest from the memory of another: they are in one process. The twin of
// HostileGuest.CannotSeeAnotherIsolate, which searches as a guest.
TEST(MemoryOfAnIsolate, IsThereForNativeCodeOfTheProcess) {
  constexpr std::string_view kWriter = R"(
      (memory (export "memory") 1)
      (func (export "_start") (local $at i32)
        (loop $next
          (i32.store8 (i32.add (i32.const 4096) (local.get $at))
                      (i32.add (i32.const 65) (i32.and (i32.mul (local.get $at) (i32.const 7)) (i32.const 31))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $next (i32.lt_u (local.get $at) (i32.const 64))))
        (unreachable)))";
  EXPECT_FALSE(is_in_process());
  World world;
  auto isolate = world.make(test::load(test::plain_guest(kWriter)));
  isolate->resume();
  EXPECT_TRUE(is_in_process());
}

}  // namespace
}  // namespace gw::isolate
