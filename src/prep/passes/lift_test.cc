#include "prep/passes/lift.h"

#include <gmock/gmock.h>

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::ElementsAre;

constexpr const char* kPrelude = R"((module
  (import "godwit" "poll" (func $gw$poll))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (memory 1) (table $t 2 funcref) (elem (i32.const 0) $site)
  (global $g (mut i32) (i32.const 0))
  (func $site (param i32) (result i32) (call $gw$poll) (local.get 0))
  (func $effect (result i32) (global.set $g (i32.const 1)) (i32.const 1))
  (func $later (result i32) (global.set $g (i32.const 2)) (i32.const 2))
)";

// The function $f of a module, lifted.
struct Lifted {
  explicit Lifted(const std::string& function) : module(kPrelude + function + ")"), graph(module.ref()), rules(test::rules_of(graph)) {
    EXPECT_TRUE(module.is_valid());
    const Builder build(module.ref());
    FunctionDraft draft = build.take("f");
    lift_sites(draft, rules, build);
    build.add(draft);
    EXPECT_TRUE(module.is_valid());
  }

  // Every site stands as a statement: in a list, or as the only thing in a local.set or drop in one.
  bool sites_are_statements() const {
    bool fine = true;
    walk(module.body("f"), [&](Expr parent) {
      const bool holds_statements = is(parent, Node::block) || is(parent, Node::loop) || is(parent, Node::if_else);
      const bool takes_result = is(parent, Node::local_set) || is(parent, Node::drop);
      for_each_child(parent, [&](Expr child) {
        if (rules.kind_of(child) != SiteKind::none) fine &= holds_statements || takes_result;
      });
    });
    return fine;
  }

  Expr body() const { return module.body("f"); }

  test::TextModule module;
  CallGraph graph;
  SiteRules rules;
};

TEST(Lift, SitesBecomeStatements) {
  const Lifted lifted(R"((func $f (param i32) (result i32)
    (i32.add (call $site (i32.mul (call $site (local.get 0)) (i32.const 3)))
             (if (result i32) (call $site (i32.const 1)) (call $site (i32.const 2)) (i32.const 4)))))");
  EXPECT_TRUE(lifted.sites_are_statements());
}

TEST(Lift, TheOrderOfSideEffectsStays) {
  const Lifted lifted(R"((func $f (result i32)
    (i32.add (i32.add (call $effect) (i32.load (call $effect))) (i32.sub (call $site (call $later)) (call $later)))))");
  EXPECT_TRUE(lifted.sites_are_statements());
  EXPECT_THAT(test::calls_in(lifted.body()), ElementsAre("effect", "effect", "later", "site", "later"));
}

TEST(Lift, AValueReadBeforeASiteIsKeptInALocal) {
  const Lifted lifted("(func $f (result i32) (i32.add (global.get $g) (call $site (i32.const 1))))");
  std::vector<Node> order;  // of evaluation
  auto visit = [&](auto& self, Expr e) -> void {
    for_each_child(e, [&](Expr child) { self(self, child); });
    if (is(e, Node::global_get) || is(e, Node::call)) order.push_back(node_of(e));
  };
  visit(visit, lifted.body());
  EXPECT_THAT(order, ElementsAre(Node::global_get, Node::call));
}

TEST(Lift, ALocalThatALaterOperandWritesIsKeptAsItWas) {
  const Lifted lifted(R"((func $f (param $x i32) (result i32)
    (i32.add (local.get $x) (call $site (local.tee $x (i32.const 7))))))");
  Expr sum = nullptr;
  walk(lifted.body(), [&](Expr e) {
    if (is(e, Node::binary)) sum = e;
  });
  ASSERT_TRUE(sum);
  ASSERT_TRUE(is(BinaryenBinaryGetLeft(sum), Node::local_get));
  EXPECT_NE(BinaryenLocalGetGetIndex(BinaryenBinaryGetLeft(sum)), 0u);
}

TEST(Lift, OperandsOfABlockingCallCanBeReadAgainAfterwards) {
  const Lifted lifted(R"((func $f (param $x i32) (result i32)
    (local.set $x (call $read (local.get $x) (call $effect) (i32.const 1) (i32.load (i32.const 4))))
    (local.get $x)))");
  Expr call = nullptr, assignment = nullptr;
  walk(lifted.body(), [&](Expr e) {
    if (!is(e, Node::local_set) || lifted.rules.kind_of(child_at(e, 0)) != SiteKind::blocking_call) return;
    assignment = e;
    call = child_at(e, 0);
  });
  ASSERT_TRUE(call && assignment);
  for_each_child(call, [&](Expr operand) {
    ASSERT_TRUE(is(operand, Node::constant) || is(operand, Node::local_get));
    if (is(operand, Node::local_get))
      EXPECT_NE(BinaryenLocalGetGetIndex(operand), BinaryenLocalSetGetIndex(assignment)) << "a parked call returns anything";
  });
}

TEST(Lift, TheTargetOfAnIndirectCallCanBeReadAgainAfterwards) {
  const Lifted lifted(R"((func $f (param $x i32)
    (local.set $x (call_indirect (param i32) (result i32) (i32.const 1) (local.get $x)))))");
  Expr call = lifted.module.find("f", Node::call_indirect);
  ASSERT_TRUE(is(BinaryenCallIndirectGetTarget(call), Node::local_get));
  EXPECT_NE(BinaryenLocalGetGetIndex(BinaryenCallIndirectGetTarget(call)), 0u);
}

TEST(Lift, BranchValuesGoThroughLocals) {
  const Lifted lifted(R"((func $f (param $x i32) (result i32)
    (block $out (result i32)
      (drop (br_if $out (i32.const 1) (call $site (i32.const 2))))
      (br_table $out $out (call $site (i32.const 3)) (local.get $x)))))");
  EXPECT_TRUE(lifted.sites_are_statements());
  walk(lifted.body(), [](Expr e) {
    if (is(e, Node::br)) EXPECT_EQ(BinaryenBreakGetValue(e), nullptr);
    if (is(e, Node::br_table)) EXPECT_EQ(BinaryenSwitchGetValue(e), nullptr);
  });
}

TEST(Lift, CodeWithoutSitesIsLeftAlone) {
  const Lifted lifted(R"((func $f (param $x i32) (result i32)
    (drop (call $site (i32.const 0)))
    (i32.add (i32.mul (local.get $x) (i32.const 3)) (if (result i32) (local.get $x) (i32.const 1) (i32.const 2)))))");
  Expr sum = nullptr;
  walk(lifted.body(), [&](Expr e) {
    if (is(e, Node::binary) && BinaryenBinaryGetOp(e) == BinaryenAddInt32()) sum = e;
  });
  ASSERT_TRUE(sum);
  EXPECT_TRUE(is(BinaryenBinaryGetLeft(sum), Node::binary));
  EXPECT_TRUE(is(BinaryenBinaryGetRight(sum), Node::if_else));
}

}  // namespace
}  // namespace gw::prep
