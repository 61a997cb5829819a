#include "prep/analysis/known_targets.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// `count` functions of one signature at 1, 2, ... of the table. Each calls another function, so that calls of it are not inlined.
std::string with_targets(unsigned count, const std::string& functions) {
  std::string targets, names;
  for (unsigned i = 1; i <= count; ++i) {
    targets += fmt::format("(func $t{} (param i32) (result i32) (call $other (i32.const {})))", i, i);
    names += fmt::format(" $t{}", i);
  }
  return fmt::format(R"((module (memory 1) (table $t 20 funcref) (elem (i32.const 1){})
    (func $other (param i32) (result i32) (local.get 0)) {} {}))",
                     names, targets, functions);
}

constexpr const char* kCaller =
    "(func $f (param i32 i32) (result i32) (call_indirect (param i32) (result i32) (local.get 0) (local.get 1)))";

unsigned make_direct(const test::TextModule& module) {
  GrowthBudget budget(module.ref());
  return make_few_targets_direct(module.ref(), budget);
}

TEST(KnownTargets, FewAreCalledDirectly) {
  const test::TextModule module(with_targets(2, kCaller));
  EXPECT_EQ(make_direct(module), 1u);
  EXPECT_THAT(test::calls_in(module.body("f")), ElementsAre("t1", "t2"));
  EXPECT_TRUE(module.is_valid());
}

TEST(KnownTargets, ManyGoThroughAJumpTable) {
  const test::TextModule module(with_targets(8, kCaller));
  EXPECT_EQ(make_direct(module), 1u);
  EXPECT_THAT(test::calls_in(module.body("f")), ElementsAre("t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"));
  EXPECT_EQ(test::count(module.body("f"), Node::br_table), 1u);
  EXPECT_TRUE(module.is_valid());
}

TEST(KnownTargets, TooManyAreLeftToTheEngine) {
  const test::TextModule module(with_targets(9, kCaller));
  EXPECT_EQ(make_direct(module), 0u);
  EXPECT_EQ(test::count(module.body("f"), Node::call_indirect), 1u);
}

// Which trap it is, the engine says: tests/transform compares.
TEST(KnownTargets, AnyOtherPointerStillMeetsTheCheckOfTheEngine) {
  const test::TextModule module(with_targets(2, kCaller));
  make_direct(module);
  Expr trap = module.find("f", Node::call_indirect);
  ASSERT_TRUE(trap);
  EXPECT_THAT(CallGraph(module.ref()).in_table(signature_of(trap)), IsEmpty()) << "nobody has that signature, so it cannot succeed";
}

TEST(KnownTargets, OperandsAreEvaluatedOnceAndInOrder) {
  const test::TextModule module(with_targets(2, R"(
    (func $a (result i32) (i32.const 1)) (func $b (result i32) (i32.const 2))
    (func $f (result i32) (call_indirect (param i32) (result i32) (call $a) (call $b))))"));
  make_direct(module);
  EXPECT_THAT(test::calls_in(module.body("f")), ElementsAre("a", "b", "t1", "t2"));
}

TEST(KnownTargets, AnOperandIsReadBeforeALaterOneChangesIt) {
  const test::TextModule module(with_targets(1, R"(
    (func $f (param i32) (result i32) (call_indirect (param i32) (result i32) (local.get 0) (local.tee 0 (i32.const 1)))))"));
  make_direct(module);
  Expr call = module.find("f", Node::call);
  ASSERT_TRUE(call);
  EXPECT_NE(BinaryenLocalGetGetIndex(child_at(call, 0)), 0u);
}

TEST(KnownTargets, ASmallFunctionTakesThePlaceOfItsCall) {
  const test::TextModule module(R"((module (memory 1) (table $t 2 funcref) (elem (i32.const 1) $small)
    (func $small (param i32) (result i32) (local i32)
      (if (local.get 0) (return (local.get 1)))
      (local.set 1 (i32.const 7))
      (local.get 1))
    (func $f (param i32 i32) (result i32)
      (i32.add (call_indirect (param i32) (result i32) (local.get 0) (local.get 1))
               (call_indirect (param i32) (result i32) (local.get 1) (local.get 0))))))");
  EXPECT_EQ(make_direct(module), 2u);
  EXPECT_THAT(test::calls_in(module.body("f")), IsEmpty());
  EXPECT_EQ(test::count(module.body("f"), Node::ret), 0u) << "it would leave the caller";
  EXPECT_TRUE(module.is_valid());
}

TEST(KnownTargets, AFunctionThatOnlyTrapsStaysOne) {
  const test::TextModule module(R"((module (memory 1) (table $t 2 funcref) (elem (i32.const 1) $trap)
    (func $trap (param i32) (result i32) (unreachable))
    (func $f (param i32 i32) (result i32) (call_indirect (param i32) (result i32) (local.get 0) (local.get 1)))))");
  EXPECT_EQ(make_direct(module), 1u);
  EXPECT_EQ(test::count(module.body("f"), Node::unreachable), 2u) << "its own, and the one behind a wrong pointer";
  EXPECT_TRUE(module.is_valid());
}

TEST(KnownTargets, WhereSomeAreLongTheCallIsNotFelt) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += "(call $other)";
  const test::TextModule module("(module (memory 1) (table $t 3 funcref) (elem (i32.const 1) $long $other) (func $other) (func $long " +
                                body + ") (func $f (param i32) (call_indirect (local.get 0))))");
  EXPECT_EQ(make_direct(module), 0u);
}

TEST(KnownTargets, AnImportCountsAsALongFunction) {
  const test::TextModule module(R"((module (import "godwit" "checkpoint" (func $checkpoint)) (memory 1)
    (table $t 2 funcref) (elem (i32.const 1) $checkpoint)
    (func $f (param i32) (call_indirect (local.get 0)))))");
  EXPECT_EQ(make_direct(module), 0u);
}

TEST(KnownTargets, AModuleDoesNotGrowWithoutLimit) {
  std::string calls;
  for (int i = 0; i < 2000; ++i) calls += "(drop (call_indirect (param i32) (result i32) (local.get 0) (local.get 1)))";
  const test::TextModule module(with_targets(8, "(func $f (param i32 i32) " + calls + ")"));
  const std::size_t before = size_of(Builder(module.ref()).read("f"));
  EXPECT_LT(make_direct(module), 2000u);
  EXPECT_LT(size_of(Builder(module.ref()).read("f")), before + 2 * 4000);
}

TEST(KnownTargets, AFunctionWithManyLocalsIsNotSmall) {
  std::string locals;
  for (int i = 0; i < 60; ++i) locals += " i64";
  const test::TextModule module("(module (memory 1) (table $t 2 funcref) (elem (i32.const 1) $g) (func $g (local" + locals +
                                ")) (func $f (param i32) (call_indirect (local.get 0))))");
  EXPECT_EQ(make_direct(module), 1u);
  EXPECT_THAT(test::calls_in(module.body("f")), ElementsAre("g"));
}

TEST(KnownTargets, TheLastSegmentDecidesWhatIsInTheTable) {
  const test::TextModule module(R"((module (memory 1) (table $t 3 funcref) (elem (i32.const 1) $old $old) (elem (i32.const 1) $new $new)
    (func $other) (func $old (call $other)) (func $new (call $other))
    (func $f (param i32) (call_indirect (local.get 0)))))");
  make_direct(module);
  EXPECT_THAT(test::calls_in(module.body("f")), ElementsAre("new", "new"));
}

TEST(KnownTargets, ACallWithoutATargetStaysIndirect) {
  const test::TextModule module(R"((module (memory 1) (table $t 3 funcref) (func $f (param i32) (call_indirect (local.get 0)))))");
  EXPECT_EQ(make_direct(module), 0u);
}

}  // namespace
}  // namespace gw::prep
