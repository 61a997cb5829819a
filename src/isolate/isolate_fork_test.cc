#include <gtest/gtest.h>
#include <sys/mman.h>

#include "isolate/isolate.h"
#include "isolate/memory/memory_snapshot.h"
#include "isolate/test/guests.h"
#include "wire/image/image.h"

namespace gw::isolate {
namespace {

using Pages = SaveOptions::Pages;
using Track = SaveOptions::Track;

// Keeps 7 at 70000. Forks three times, each time adding 1 in the parent and 16 in the child; after the first fork the memory grows, and 32
// goes there. A child does not fork. Exits with the sum; with 100 + errno if a fork fails. Prints 8 random bytes before.
constexpr std::string_view kForkImports = R"(
  (import "godwit" "fork" (func $fork (param i32) (result i32)))
  (import "godwit" "thread_id" (func $thread_id (param i32) (result i32)))
  (import "godwit" "report" (func $report (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
)";
constexpr std::string_view kForkingProgram = R"(
  (func $add (param $address i32) (param $amount i32)
    (i32.store (local.get $address) (i32.add (i32.load (local.get $address)) (local.get $amount))))
  (func $print_random
    (drop (call $random_get (i32.const 216) (i32.const 8)))
    (i32.store (i32.const 224) (i32.const 216))
    (i32.store (i32.const 228) (i32.const 8))
    (drop (call $fd_write (i32.const 1) (i32.const 224) (i32.const 1) (i32.const 232))))
  (func (export "_start") (local $error i32)
    (if (global.get $rewinding)
      (then (global.set $rewinding (i32.const 0)))
      (else (i32.store (i32.const 70000) (i32.const 7))))
    (loop $again
      (local.set $error (call $fork (i32.const 200)))
      (if (global.get $unwinding) (then (return)))
      (if (local.get $error) (then (call $exit (i32.add (i32.const 100) (local.get $error)))))
      (call $add (i32.const 70000) (select (i32.const 16) (i32.const 1) (i64.eqz (i64.load (i32.const 200)))))
      (if (i32.eqz (i32.load (i32.const 208))) (then
        (drop (memory.grow (i32.const 1)))
        (i32.store (i32.const 140000) (i32.const 32))))
      (call $add (i32.const 208) (i32.const 1))
      (br_if $again (i32.and (i64.ne (i64.load (i32.const 200)) (i64.const 0)) (i32.lt_u (i32.load (i32.const 208)) (i32.const 3)))))
    (call $print_random)
    (call $exit (i32.add (i32.load (i32.const 70000)) (i32.load (i32.const 140000)))))
)";

constexpr std::string_view kParentEnds = "exited with code 42";  // 7 + 3 + 32
std::string child_ends(unsigned number) { return "exited with code " + std::to_string(7 + number + 16 + 32); }

class IsolateFork : public ::testing::Test {
 protected:
  std::unique_ptr<Isolate> child_of(Isolate& parent, std::uint64_t id, PoolThread& thread) {
    auto point = parent.fork(id);
    EXPECT_TRUE(point) << point.error().detail;
    auto child = Isolate::make(test::engine(), thread, *std::move(point), world.host());
    EXPECT_TRUE(child) << child.error().detail;
    return *std::move(child);
  }
  std::unique_ptr<Isolate> restore(const wire::Image& image, std::span<const wire::Image> ancestors = {}) {
    std::vector<wire::BlobPack> packs;
    for (const wire::Image& ancestor : ancestors) packs.push_back(ancestor.pack());
    auto isolate = Isolate::restore(test::engine(), *world.thread, module, {image, packs}, Limits{}, world.host());
    EXPECT_TRUE(isolate) << isolate.error().detail;
    return *std::move(isolate);
  }
  // To its end, with every fork refused a child that runs.
  std::string finish(Isolate& isolate) {
    Stop stop = isolate.resume();
    for (std::uint64_t id = 100; can_resume(stop); id++) {
      EXPECT_TRUE(isolate.fork(id));
      stop = isolate.resume();
    }
    return describe(stop);
  }

  test::World world;
  const std::shared_ptr<const Module> module = test::load(test::mobile_guest(kForkImports, kForkingProgram));
};

TEST_F(IsolateFork, ChildAndParentGoOnFromTheSamePointWithMemoriesOfTheirOwn) {
  auto other_thread = test::engine().make_thread();
  auto parent = world.make(module);
  std::vector<std::unique_ptr<Isolate>> children;
  for (std::uint64_t id : {11, 12, 13}) {
    EXPECT_EQ(describe(parent->resume()), "parked to be forked");
    children.push_back(child_of(*parent, id, id == 12 ? **other_thread : *world.thread));
  }
  EXPECT_EQ(describe(children[1]->resume()), child_ends(1));
  EXPECT_EQ(describe(parent->resume()), kParentEnds);
  EXPECT_EQ(describe(children[2]->resume()), child_ends(2));
  parent.reset();
  EXPECT_EQ(describe(children[0]->resume()), child_ends(0));
}

TEST_F(IsolateFork, TheirRandomNumbersDifferAndAreTheSameAgain) {
  std::string first;
  for (int run = 0; run < 2; run++) {
    test::World here;
    auto parent = here.make(module);
    (void)parent->resume();
    auto point = parent->fork(11);
    auto child = Isolate::make(test::engine(), *here.thread, *std::move(point), here.host());
    EXPECT_EQ(describe((*child)->resume()), child_ends(0));
    std::string of_child(here.output.text());
    finish(*parent);
    ASSERT_EQ(here.output.text().size(), 16u);
    EXPECT_NE(here.output.text().substr(8), of_child);
    if (run == 0) first = of_child;
    EXPECT_EQ(of_child, first);
  }
}

TEST_F(IsolateFork, AChildThatHasTouchedNothingIsSavedWhole) {
  auto parent = world.make(module);
  (void)parent->resume();
  auto image = child_of(*parent, 11, *world.thread)->save();
  ASSERT_TRUE(image) << image.error().detail;
  EXPECT_EQ(describe(restore(*image)->resume()), child_ends(0));
}

TEST_F(IsolateFork, BothKeepWhatWasTrackedBefore) {
  auto parent = world.make(module);
  (void)parent->resume();
  auto first = parent->save({.track = Track::yes});
  ASSERT_TRUE(first);
  (void)child_of(*parent, 11, *world.thread);
  (void)parent->resume();  // has changed pages by now
  auto child = child_of(*parent, 12, *world.thread);
  for (Isolate* isolate : {parent.get(), child.get()}) {
    auto image = isolate->save({.pages = Pages::changed, .track = Track::yes});
    ASSERT_TRUE(image) << image.error().detail;
    EXPECT_EQ(finish(*restore(*image, {&*first, 1})), isolate == parent.get() ? kParentEnds : child_ends(1));
  }
  EXPECT_EQ(describe(child->resume()), child_ends(1));
  EXPECT_EQ(finish(*parent), kParentEnds);
}

TEST_F(IsolateFork, AChildGoesOnFromTheImageThatWasSavedForIt) {
  auto parent = world.make(module);
  std::vector<wire::Image> images;
  for (std::uint64_t id : {11, 12, 13}) {
    EXPECT_EQ(describe(parent->resume()), "parked to be forked");
    auto image = parent->save_child(id, {.pages = images.empty() ? Pages::all : Pages::changed, .track = Track::yes});
    ASSERT_TRUE(image) << image.error().detail;
    images.push_back(*std::move(image));
    parent->answer_fork(id);
  }
  EXPECT_EQ(describe(parent->resume()), kParentEnds);
  for (unsigned number : {2, 0, 1}) EXPECT_EQ(describe(restore(images[number], images)->resume()), child_ends(number));
  EXPECT_FALSE(parent->save_child(14, {})) << "nobody asks for it";
}

TEST_F(IsolateFork, AnImageTakenBeforeTheAnswerAsksAgain) {
  auto parent = world.make(module);
  (void)parent->resume();
  auto image = parent->save();
  EXPECT_EQ(describe(parent->resume()), "parked to be forked");
  auto again = restore(*image);
  EXPECT_EQ(describe(again->resume()), "parked to be forked");
  EXPECT_EQ(finish(*again), kParentEnds);
}

TEST_F(IsolateFork, ARefusalIsAnErrorOfTheCall) {
  auto parent = world.make(module);
  (void)parent->resume();
  parent->refuse_fork();
  EXPECT_EQ(describe(parent->resume()), "exited with code 106");
}

TEST_F(IsolateFork, OnlyWhoAsksIsForked) {
  auto parent = world.make(module);
  auto point = parent->fork(11);
  ASSERT_FALSE(point);
  EXPECT_EQ(point.error().kind, Kind::invalid);
  (void)parent->resume();
  ASSERT_TRUE(parent->fork(11));
  EXPECT_FALSE(parent->fork(12));
}

std::span<std::uint8_t> map_anonymous(std::size_t bytes) {
  return {static_cast<std::uint8_t*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), bytes};
}

// On a kernel that tells nothing about pages, everything is copied.
TEST(MemorySnapshot, WorksWithWhateverTheKernelTells) {
  for (auto use : {MemoryWatch::Use::everything, MemoryWatch::Use::no_tracking, MemoryWatch::Use::nothing}) {
    MemoryWatch watch(use);
    constexpr std::size_t kBytes = 4 * wire::kPageBytes;
    auto parent = map_anonymous(kBytes), child = map_anonymous(kBytes);
    parent[wire::kPageBytes] = 1;
    auto snapshot = MemorySnapshot::make(kBytes).value();
    ASSERT_TRUE(snapshot->take_over(watch, parent, nullptr));
    EXPECT_EQ(snapshot->pages(), std::vector<std::uint32_t>{1});
    child[0] = 9;  // is lost
    ASSERT_TRUE(snapshot->map_over(child));
    parent[3 * wire::kPageBytes] = 2;
    std::size_t written = 0;
    watch.not_of_file({parent.data(), parent.size()}, [&](auto, std::size_t bytes) { written += bytes; });
    EXPECT_EQ(written, use == MemoryWatch::Use::nothing ? kBytes : 4096);
    EXPECT_EQ(child[wire::kPageBytes], 1);
    EXPECT_EQ(child[0] + child[3 * wire::kPageBytes], 0);
    auto later = MemorySnapshot::make(kBytes).value();
    ASSERT_TRUE(later->take_over(watch, child, snapshot.get()));
    EXPECT_EQ(later->pages(), std::vector<std::uint32_t>{1});
    EXPECT_EQ(child[wire::kPageBytes], 1);
    munmap(parent.data(), kBytes);
    munmap(child.data(), kBytes);
  }
}

TEST(MemorySnapshot, HoldsMemoriesOfSeveralPieces) {
  MemoryWatch watch;
  constexpr std::size_t kBytes = 300 * wire::kPageBytes;
  auto parent = map_anonymous(kBytes), child = map_anonymous(kBytes);
  const std::vector<std::uint32_t> used{0, 1, 126, 127, 128, 255, 256, 299};  // pieces are of 128
  for (std::uint32_t page : used) parent[page * wire::kPageBytes + page] = 1;
  const Bytes before(parent.begin(), parent.end());
  auto snapshot = MemorySnapshot::make(kBytes).value();
  ASSERT_TRUE(snapshot->take_over(watch, parent, nullptr));
  EXPECT_EQ(snapshot->pages(), used);
  ASSERT_TRUE(snapshot->map_over(child));
  EXPECT_TRUE(std::ranges::equal(parent, before));
  EXPECT_TRUE(std::ranges::equal(child, before));
  munmap(parent.data(), kBytes);
  munmap(child.data(), kBytes);
}

}  // namespace
}  // namespace gw::isolate
