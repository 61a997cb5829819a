#include "prep/passes/polls.h"

#include <gmock/gmock.h>

#include "prep/analysis/call_graph.h"
#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

Report insert_into(const test::TextModule& module) {
  Report report;
  insert_polls(module.ref(), report);
  EXPECT_TRUE(module.is_valid());
  return report;
}

long markers_in(Expr e) {
  const auto calls = test::calls_in(e);
  return std::ranges::count(calls, kPollMarker);
}

TEST(Polls, AShortLoopHasNone) {
  const test::TextModule module(R"((module (func $f (local $i i32)
    (local.set $i (i32.const 100))
    (loop $l (br_if $l (local.tee $i (i32.sub (local.get $i) (i32.const 1))))))))");
  const Report report = insert_into(module);
  EXPECT_EQ(markers_in(module.body("f")), 0);
  EXPECT_EQ(report.unpolled, 1u);
  ASSERT_EQ(report.left_unpolled.size(), 1u);
  EXPECT_EQ(report.left_unpolled[0].function, "f");
  EXPECT_THAT(report.left_unpolled[0].reason, ::testing::HasSubstr("short"));
}

TEST(Polls, AnUnboundedLoopIsPolledAtItsHeader) {
  const test::TextModule module("(module (memory 1) (func $f (loop $l (br_if $l (i32.load (i32.const 0))))))");
  const Report report = insert_into(module);
  EXPECT_EQ(report.polled, 1u);
  Expr body = BinaryenLoopGetBody(module.find("f", Node::loop));
  ASSERT_TRUE(is(body, Node::block));
  ASSERT_TRUE(is(child_at(body, 0), Node::call));
  EXPECT_STREQ(BinaryenCallGetTarget(child_at(body, 0)), kPollMarker);
}

TEST(Polls, ATightCountedLoopIsVersioned) {
  const test::TextModule module(R"((module (func $f (param $i i32) (param $n i32)
    (loop $l (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n)))))))");
  const Report report = insert_into(module);
  EXPECT_EQ(report.versioned, 1u);
  Expr choice = module.find("f", Node::if_else);
  ASSERT_TRUE(choice);
  EXPECT_EQ(markers_in(BinaryenIfGetIfTrue(choice)), 0) << "the copy for few turns";
  EXPECT_EQ(markers_in(BinaryenIfGetIfFalse(choice)), 1) << "the loop for many";
  EXPECT_STRNE(BinaryenLoopGetName(module.find("f", Node::loop, 0)), BinaryenLoopGetName(module.find("f", Node::loop, 1)));
}

TEST(Polls, ALoopWithAValueKeepsIt) {
  const test::TextModule module(R"((module (func $f (param $i i32) (result i64)
    (loop $l (result i64) (br_if $l (local.tee $i (i32.sub (local.get $i) (i32.const 1)))) (i64.const 5)))))");
  EXPECT_EQ(insert_into(module).polled, 1u);
  EXPECT_EQ(type_of(module.find("f", Node::loop)), BinaryenTypeInt64());
}

TEST(Polls, RecursionIsPolledWhereAFunctionIsEntered) {
  const test::TextModule module(R"((module
    (func $fib (param i32) (result i32) (i32.add (call $fib (local.get 0)) (call $fib (local.get 0))))
    (func $plain (result i32) (call $fib (i32.const 1)))))");
  const Report report = insert_into(module);
  EXPECT_EQ(report.polled_entries, 1u);
  EXPECT_EQ(test::calls_in(module.body("fib")).front(), kPollMarker);
  EXPECT_EQ(markers_in(module.body("plain")), 0);
}

TEST(Polls, NestedLoopsAreLookedAtOneByOne) {
  const test::TextModule module(R"((module (memory 1) (func $f (local $i i32)
    (loop $outer
      (local.set $i (i32.const 8))
      (loop $inner (br_if $inner (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
      (br_if $outer (i32.load (i32.const 0)))))))");
  const Report report = insert_into(module);
  EXPECT_EQ(report.loops, 2u);
  EXPECT_EQ(report.polled, 1u);
  EXPECT_EQ(report.unpolled, 1u);
}

// A loop with this body, which calls $again, a function that is polled at its entry, or has a loop of unknown length inside.
Report insert_into_loop(const std::string& body) {
  const test::TextModule module(R"((module (memory 1)
    (func $again (param i32) (if (local.get 0) (call $again (i32.const 0))))
    (func $f (param $i i32) (block $out (loop $l )" +
                                body + R"( (br $l))))))");
  return insert_into(module);
}

TEST(Polls, ALoopWhoseTurnsAllCallAPolledFunctionNeedsNone) {
  EXPECT_EQ(insert_into_loop("(call $again (i32.const 1))").polled, 0u);
  EXPECT_EQ(insert_into_loop("(br_if $out (local.get $i)) (call $again (i32.const 1))").polled, 0u) << "who leaves the loop needs no poll";
  EXPECT_EQ(insert_into_loop("(if (local.get $i) (call $again (i32.const 1)) (call $again (i32.const 2)))").polled, 0u);
}

TEST(Polls, ALoopWhoseTurnsAllEnterAPolledLoopNeedsNone) {
  const Report report = insert_into_loop("(loop $inner (br_if $inner (i32.load (i32.const 0))))");
  EXPECT_EQ(report.loops, 2u);
  EXPECT_EQ(report.polled, 1u);
  ASSERT_EQ(report.left_unpolled.size(), 1u);
  EXPECT_THAT(report.left_unpolled[0].reason, ::testing::HasSubstr("another poll"));
}

TEST(Polls, ALoopThatCanGoBackWithoutAPollHasItsOwn) {
  EXPECT_EQ(insert_into_loop("(if (local.get $i) (call $again (i32.const 1)))").polled, 1u);
  EXPECT_EQ(insert_into_loop("(br_if $l (local.get $i)) (call $again (i32.const 1))").polled, 1u);
  EXPECT_EQ(insert_into_loop("(block $skip (br_if $skip (local.get $i)) (call $again (i32.const 1)))").polled, 1u);
  EXPECT_EQ(insert_into_loop("(block $skip (br_table $skip $l (local.get $i))) (call $again (i32.const 1))").polled, 1u);
  // The condition of two polling arms jumps past both.
  const std::string arms = "(call $again (i32.const 1)) (call $again (i32.const 2)))";
  EXPECT_EQ(insert_into_loop("(if (block (result i32) (br_if $l (local.get $i)) (local.get $i)) " + arms).polled, 1u);
  EXPECT_EQ(insert_into_loop("(block $skip (if (block (result i32) (br_if $skip (local.get $i)) (local.get $i)) " + arms + ")").polled, 1u);
  EXPECT_EQ(insert_into_loop("(if (local.get $i) (call $again (i32.const 1)) (br $l))").polled, 1u);
  EXPECT_EQ(insert_into_loop("(drop (i32.add (block $v (result i32) (br_if $l (local.get $i)) (i32.const 1)) (block (result i32)"
                             "(call $again (i32.const 1)) (i32.const 2))))")
                .polled,
            1u);
}

}  // namespace
}  // namespace gw::prep
