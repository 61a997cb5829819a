#include "prep/mobility/two_bodies.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "prep/passes/lift.h"
#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr const char* kFast = "f";
constexpr const char* kRewind = "f$rewind";
enum class Copies : std::uint8_t { allowed, used_up };

// The two bodies of the function $f, in a module with the sites $gw$poll and $site.
class Bodies {
 public:
  explicit Bodies(const std::string& function, Copies copies = Copies::allowed)
      : module_(R"((module
          (import "godwit" "poll" (func $gw$poll))
          (memory 32)
          (func $use (param i32))
          (func $site (param i32) (result i32) (call $gw$poll) (local.get 0))
          (func $site$rewind (result i32) (i32.const 0)))" +
                function + ")") {
    const Builder build(module_.ref());
    const CallGraph graph(module_.ref());
    const SiteRules rules = test::rules_of(graph);
    UnwindStack stack(build, {65536, 8 * kWasmPageBytes}, Verify::no);
    LoopCopyBudget budget(module_.ref());
    if (copies == Copies::used_up)
      while (budget.take(1)) {
      }
    FunctionDraft draft = build.take(kFast);
    lift_sites(draft, rules, build);
    const TwoBodies bodies = make_two_bodies(std::move(draft), {build, rules, stack, [&] { return build.i32(0); }, 0, budget});
    build.add(bodies.fast);
    build.add(bodies.rewind);
    guarded_loops = bodies.guarded_loops;
    EXPECT_TRUE(module_.is_valid());
  }

  unsigned loops(const char* function) const { return test::count(module_.body(function), Node::loop); }
  std::vector<std::string> calls(const char* function) const { return test::calls_in(module_.body(function)); }
  // The locals that the n-th loop of a function reads or writes.
  std::set<Local> locals_in_loop(const char* function, unsigned n) const {
    std::set<Local> locals;
    walk(module_.find(function, Node::loop, n), [&](Expr e) {
      if (is(e, Node::local_get)) locals.insert(BinaryenLocalGetGetIndex(e));
      if (is(e, Node::local_set)) locals.insert(BinaryenLocalSetGetIndex(e));
    });
    return locals;
  }

  unsigned guarded_loops = 0;

 private:
  test::TextModule module_;
};

// Code without sites.
std::string filling(unsigned statements) {
  std::string text;
  for (unsigned i = 0; i < statements; ++i) text += fmt::format("(call $use (i32.add (local.get $x) (i32.const {})))", i);
  return text;
}

// A loop with two calls that may suspend.
std::string loop(const std::string& label, const std::string& contents) {
  return "(loop $" + label + "(local.set $y (call $site (local.get $x))) (local.set $x (call $site (local.get $y)))" + contents +
         "(br_if $" + label + " (local.get $x)))";
}

std::string function(const std::string& body) { return "(func $f (param $x i32) (result i32) (local $y i32)" + body + "(local.get $y))"; }

TEST(TwoBodies, AFrameResumedInALoopGoesOnInTheFastBodyWithTheNextTurn) {
  const Bodies bodies(function(loop("l", filling(20))));
  EXPECT_EQ(bodies.loops(kFast), 1u);
  EXPECT_EQ(bodies.loops(kRewind), 0u);
  EXPECT_THAT(bodies.calls(kRewind), Contains(kFast));
}

TEST(TwoBodies, ALoopThatIsSmallerThanAnEntryIsCopied) {
  const Bodies bodies(function("(loop $l (br_if $l (local.tee $x (call $site (local.get $x)))))"));
  EXPECT_EQ(bodies.loops(kRewind), 1u);
  EXPECT_EQ(bodies.locals_in_loop(kRewind, 0), bodies.locals_in_loop(kFast, 0)) << "no guards";
  EXPECT_THAT(bodies.calls(kRewind), Not(Contains(kFast)));
}

TEST(TwoBodies, ALargeInnerLoopIsEntered) {
  const Bodies bodies(function(loop("outer", loop("inner", filling(100)))));
  EXPECT_EQ(bodies.loops(kRewind), 0u);
  EXPECT_EQ(bodies.guarded_loops, 0u);
}

TEST(TwoBodies, ASmallInnerLoopIsCopiedWithoutGuards) {
  const Bodies bodies(function(loop("outer", loop("inner", filling(5)) + filling(50))));
  EXPECT_EQ(bodies.loops(kRewind), 1u);
  EXPECT_EQ(bodies.locals_in_loop(kRewind, 0), bodies.locals_in_loop(kFast, 1));
  EXPECT_EQ(bodies.guarded_loops, 0u);
}

TEST(TwoBodies, ASmallInnerLoopStaysGuardedInAModuleThatMayNotGrow) {
  const Bodies bodies(function(loop("outer", loop("inner", filling(5)) + filling(50))), Copies::used_up);
  EXPECT_EQ(bodies.loops(kRewind), 1u);
  EXPECT_GT(bodies.locals_in_loop(kRewind, 0).size(), bodies.locals_in_loop(kFast, 1).size());
  EXPECT_EQ(bodies.guarded_loops, 1u);
}

TEST(TwoBodies, WithAPollInALoopAsTheOnlySiteTheRewindBodyOnlyCallsTheFastOne) {
  const Bodies bodies(function("(loop $l (call $gw$poll)" + filling(20) + "(br_if $l (local.get $y)))"));
  EXPECT_THAT(bodies.calls(kRewind), ElementsAre(kFast));
}

TEST(TwoBodies, LoopsInArmsAndBlocksCanBeEntered) {
  const std::string inner = loop("a", filling(20)) + "(br_if $out (local.get $y))";
  const Bodies bodies(function("(block $out (call $use (local.get $x)) (if (local.get $x) (block " + inner +
                               ") (block (call $use (i32.const 3))" + loop("b", filling(20)) + "(return (i32.const 1))))" + filling(3) +
                               loop("c", filling(20)) + ")"));
  EXPECT_EQ(bodies.loops(kFast), 3u);
  EXPECT_EQ(bodies.loops(kRewind), 0u);
}

}  // namespace
}  // namespace gw::prep
