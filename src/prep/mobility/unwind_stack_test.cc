#include "prep/mobility/unwind_stack.h"

#include <gmock/gmock.h>

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::ElementsAre;

const std::vector<std::pair<Local, Type>> kLocals = {{0, BinaryenTypeInt32()}, {1, BinaryenTypeInt64()},   {2, BinaryenTypeVec128()},
                                                     {3, BinaryenTypeInt32()}, {4, BinaryenTypeFloat32()}, {5, BinaryenTypeFloat64()}};
constexpr UnwindArea kArea{65536, 8 * kWasmPageBytes};

// The local that a push takes its values from, or a pop gives its value to, in order.
std::vector<Local> locals_of(const std::vector<Expr>& statements) {
  std::vector<Local> locals;
  for (Expr statement : statements) {
    walk(statement, [&](Expr e) {
      if (is(e, Node::local_get)) locals.push_back(BinaryenLocalGetGetIndex(e));
      if (is(e, Node::local_set)) locals.push_back(BinaryenLocalSetGetIndex(e));
    });
  }
  return locals;
}

TEST(UnwindStack, PopsInTheReverseOrderOfThePushes) {
  const test::TextModule module("(module (memory 32))");
  const Builder build(module.ref());
  UnwindStack stack(build, kArea, Verify::no);
  std::vector<Local> pushed = locals_of(stack.push(kLocals, build.i32(1)));
  const std::vector<Local> popped = locals_of(stack.pop(kLocals));
  std::ranges::reverse(pushed);
  EXPECT_EQ(pushed, popped);
  EXPECT_THAT(popped, ::testing::UnorderedElementsAre(0u, 1u, 2u, 3u, 4u, 5u));
}

TEST(UnwindStack, TheNumberIsPushedLast) {
  const test::TextModule module("(module (memory 32))");
  const Builder build(module.ref());
  UnwindStack stack(build, kArea, Verify::no);
  Expr number = build.i32(7);
  Expr last = stack.push(kLocals, number).back();
  ASSERT_TRUE(is(last, Node::call));
  EXPECT_EQ(child_at(last, child_count(last) - 1), number);
}

TEST(UnwindStack, ValuesOfOneTypeArePushedTogether) {
  const test::TextModule module("(module (memory 32))");
  const Builder build(module.ref());
  UnwindStack stack(build, kArea, Verify::no);
  std::vector<std::pair<Local, Type>> many;
  for (Local l = 0; l < 13; ++l) many.emplace_back(l, BinaryenTypeInt64());
  std::vector<std::string> calls;
  for (Expr statement : stack.push(many, build.i32(1))) calls.emplace_back(BinaryenCallGetTarget(statement));
  EXPECT_THAT(calls, ElementsAre("gw$push8_i64", "gw$push4_i64", "gw$push1_i64", "gw$push1_i32"));
  EXPECT_TRUE(module.is_valid());
}

TEST(UnwindStack, APopClearsItsPlace) {
  const test::TextModule module("(module (memory 32))");
  const Builder build(module.ref());
  UnwindStack stack(build, kArea, Verify::no);
  static_cast<void>(stack.pop(kLocals));
  for (const char* pop : {"gw$pop_i32", "gw$pop_i64", "gw$pop_f32", "gw$pop_f64", "gw$pop_v128"}) {
    ASSERT_TRUE(module.has(pop));
    EXPECT_EQ(test::count(module.body(pop), Node::load), 1u);
    EXPECT_EQ(test::count(module.body(pop), Node::store), 1u);
  }
}

TEST(UnwindStack, APushThatDoesNotFitTraps) {
  const test::TextModule module("(module (memory 32))");
  const Builder build(module.ref());
  UnwindStack stack(build, kArea, Verify::no);
  static_cast<void>(stack.push({}, build.i32(1)));
  EXPECT_EQ(test::count(module.body("gw$push1_i32"), Node::unreachable), 1u);
}

constexpr const char* kLooksAtItsMemory = R"((module (memory 32)
  (func $f (result i32) (i32.add (memory.size) (memory.grow (i32.const 1))))))";

TEST(UnwindStack, AnAreaBehindTheMemoryIsHidden) {
  const test::TextModule module(kLooksAtItsMemory);
  const Builder build(module.ref());
  UnwindStack(build, kArea, Verify::no).hide_area(UnwindStack::Content::none);
  EXPECT_EQ(test::count(module.body("f"), Node::memory_size), 0u);
  EXPECT_EQ(test::count(module.body("f"), Node::memory_grow), 0u);
  EXPECT_EQ(test::count(module.body("f"), Node::call), 2u);
  EXPECT_TRUE(module.is_valid());
}

TEST(UnwindStack, VerifiedFramesHoldCanonicalNans) {
  const test::TextModule module("(module (memory 32))");
  const Builder build(module.ref());
  UnwindStack stack(build, kArea, Verify::yes);
  static_cast<void>(stack.push({{0, BinaryenTypeFloat64()}, {1, BinaryenTypeInt64()}}, build.i32(1)));
  EXPECT_EQ(test::count(module.body("gw$push1_f64"), Node::select), 1u);
  EXPECT_EQ(test::count(module.body("gw$push1_i64"), Node::select), 0u);
}

}  // namespace
}  // namespace gw::prep
