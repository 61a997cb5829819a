#include "prep/passes/inline.h"

#include <gmock/gmock.h>

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::ElementsAre;

TEST(Inline, ASmallLeafHasNoCallsAndNoLoops) {
  const test::TextModule module(R"((module (table $t 1 funcref)
    (func $add (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
    (func $caller (result i32) (call $add (i32.const 1) (i32.const 2)))
    (func $indirect (call_indirect (i32.const 0)))
    (func $endless (loop $l (br $l)))))");
  const Builder build(module.ref());
  EXPECT_TRUE(is_small_leaf(build.read("add")));
  EXPECT_FALSE(is_small_leaf(build.read("caller")));
  EXPECT_FALSE(is_small_leaf(build.read("indirect")));
  EXPECT_FALSE(is_small_leaf(build.read("endless")));
}

unsigned unroll(const test::TextModule& module) {
  GrowthBudget budget(module.ref());
  return unroll_recursion(module.ref(), budget);
}

TEST(Inline, TheBudgetShrinksByWhatIsTaken) {
  const test::TextModule module("(module (func $f))");
  GrowthBudget budget(module.ref());
  EXPECT_TRUE(budget.take(3999));
  EXPECT_FALSE(budget.take(2)) << "more than is left: nothing is taken";
  EXPECT_TRUE(budget.take(1));
  EXPECT_FALSE(budget.take(1));
}

TEST(Inline, RecursionGoesTwoStepsAtATime) {
  const test::TextModule module(R"((module
    (func $fib (param i32) (result i32)
      (if (i32.lt_u (local.get 0) (i32.const 2)) (return (local.get 0)))
      (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2)))))))");
  EXPECT_EQ(unroll(module), 1u);
  EXPECT_THAT(test::calls_in(module.body("fib")), ElementsAre("fib", "fib", "fib", "fib"));
  EXPECT_EQ(test::count(module.body("fib"), Node::ret), 1u) << "only the outer step returns";
  EXPECT_TRUE(module.is_valid());
}

TEST(Inline, OperandsThatRecurseAreEvaluatedFirst) {
  const test::TextModule module(R"((module (func $before (result i32) (i32.const 1))
    (func $ack (param i32 i32) (result i32)
      (call $ack (call $before) (call $ack (local.get 0) (local.get 1))))))");
  EXPECT_EQ(unroll(module), 1u);
  EXPECT_THAT(test::calls_in(module.body("ack")), ElementsAre("before", "before", "ack", "ack", "before", "ack", "ack"));
  EXPECT_TRUE(module.is_valid());
}

TEST(Inline, AFunctionThatCallsItselfOftenStays) {
  const test::TextModule module("(module (func $f (call $f) (call $f) (call $f) (call $f)))");
  EXPECT_EQ(unroll(module), 0u);
  EXPECT_EQ(test::calls_in(module.body("f")).size(), 4u);
}

}  // namespace
}  // namespace gw::prep
