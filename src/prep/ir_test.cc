#include "prep/ir.h"

#include <gmock/gmock.h>

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::ElementsAre;

// Operands are calls of a, b, c in the order in which wasm evaluates them.
std::vector<std::string> order_of(const std::string& expression) {
  const test::TextModule module("(module (memory 1) (table $t 4 funcref)" +
                                std::string("(func $a (result i32) (i32.const 1)) (func $b (result i32) (i32.const 2))"
                                            "(func $c (result i32) (i32.const 3)) (func $f ") +
                                expression + "))");
  EXPECT_TRUE(module.is_valid());
  return test::calls_in(module.body("f"));
}

TEST(Ir, ChildrenComeInTheOrderOfEvaluation) {
  EXPECT_THAT(order_of("(i32.store (call $a) (call $b))"), ElementsAre("a", "b"));
  EXPECT_THAT(order_of("(drop (select (call $a) (call $b) (call $c)))"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(order_of("(memory.copy (call $a) (call $b) (call $c))"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(order_of("(memory.fill (call $a) (call $b) (call $c))"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(order_of("(if (call $a) (drop (call $b)) (drop (call $c)))"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(order_of("(drop (block $l (result i32) (br_if $l (call $a) (call $b))))"), ElementsAre("a", "b"));
  EXPECT_THAT(order_of("(call_indirect (param i32 i32) (call $a) (call $b) (call $c))"), ElementsAre("a", "b", "c"));
}

TEST(Ir, RenamedLabelsStillConnectBranchesWithTheirTargets) {
  const test::TextModule module(R"((module (func $f (param i32)
    (block $outer
      (block $inner
        (loop $again
          (br_if $again (local.get 0))
          (br_if $outer (local.get 0))
          (br_table $inner $again $inner (local.get 0))))))))");
  Expr inner = module.find("f", Node::block, 1);
  rename_labels(inner, "$copy");
  EXPECT_STREQ(BinaryenBlockGetName(inner), "inner$copy");
  EXPECT_STREQ(BinaryenLoopGetName(module.find("f", Node::loop)), "again$copy");
  EXPECT_STREQ(BinaryenBreakGetName(module.find("f", Node::br)), "again$copy");
  EXPECT_STREQ(BinaryenBreakGetName(module.find("f", Node::br, 1)), "outer") << "defined outside, so it keeps its name";
  EXPECT_THAT(branch_targets(module.find("f", Node::br_table)),
              ElementsAre(::testing::StrEq("inner$copy"), ::testing::StrEq("again$copy"), ::testing::StrEq("inner$copy")));
  EXPECT_TRUE(module.is_valid());
}

TEST(Ir, RewriteReplacesChildrenBeforeParents) {
  const test::TextModule module("(module (func $f (result i32) (i32.add (i32.const 1) (i32.const 2))))");
  const Builder build(module.ref());
  std::vector<Node> seen;
  Expr rewritten = rewrite(module.find("f", Node::binary), [&](Expr e) {
    seen.push_back(node_of(e));
    return is(e, Node::constant) ? build.i32(7) : e;
  });
  EXPECT_THAT(seen, ElementsAre(Node::constant, Node::constant, Node::binary));
  EXPECT_EQ(const_i32(BinaryenBinaryGetLeft(rewritten)), 7);
  EXPECT_EQ(const_i32(BinaryenBinaryGetRight(rewritten)), 7);
}

TEST(Ir, DraftsCarryAFunctionOverWithNewLocals) {
  const test::TextModule module("(module (func $f (param i64) (result f32) (local f64) (f32.const 1)))");
  const Builder build(module.ref());
  FunctionDraft draft = build.take("f");
  EXPECT_FALSE(module.has("f"));
  EXPECT_THAT(draft.locals, ElementsAre(BinaryenTypeInt64(), BinaryenTypeFloat64()));
  EXPECT_EQ(draft.add_local(BinaryenTypeVec128()), 2u);
  build.add(draft);
  BinaryenFunctionRef function = BinaryenGetFunction(module.ref(), "f");
  EXPECT_EQ(BinaryenFunctionGetNumVars(function), 2u);
  EXPECT_EQ(BinaryenFunctionGetVar(function, 1), BinaryenTypeVec128());
  EXPECT_TRUE(module.is_valid());
}

TEST(Ir, NamesAreReadableAgain) {
  EXPECT_EQ(readable_name("sort\\28int*\\29"), "sort(int*)");
  EXPECT_EQ(readable_name("plain"), "plain");
  EXPECT_EQ(readable_name("ends\\2"), "ends\\2");
}

}  // namespace
}  // namespace gw::prep
