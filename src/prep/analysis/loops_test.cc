#include "prep/analysis/loops.h"

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

// $i runs, $n is its bound, $x takes part in nothing.
std::string with_loop(const std::string& before, const std::string& loop) {
  return "(module (memory 1) (func $opaque (result i32) (i32.load (i32.const 0))) (func $f (param $i i32) (param $n i32) (param $x i32) " +
         before + loop + "))";
}

struct LoopCase {
  const char* name;
  const char* loop;
  int step = 0;  // 0: not a counted loop
};

class CountedLoops : public ::testing::TestWithParam<LoopCase> {};

TEST_P(CountedLoops, AreTold) {
  const test::TextModule module(with_loop("", GetParam().loop));
  ASSERT_TRUE(module.is_valid());
  const auto counted = recognise_counted_loop(module.find("f", Node::loop));
  ASSERT_EQ(counted.has_value(), GetParam().step != 0);
  if (!counted) return;
  EXPECT_EQ(counted->step, GetParam().step);
  EXPECT_EQ(counted->variable, 0u);
}

const LoopCase kCountedLoops[] = {
    {"up_to_a_bound", "(loop $l (local.set $i (i32.add (local.get $i) (i32.const 1))) (br_if $l (i32.ne (local.get $i) (local.get $n))))",
     1},
    {"bound_on_the_left",
     "(loop $l (local.set $i (i32.add (local.get $i) (i32.const 1))) (br_if $l (i32.ne (local.get $n) (local.get $i))))", 1},
    {"tee_in_the_test", "(loop $l (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 4))) (local.get $n))))", 4},
    {"down_to_zero", "(loop $l (br_if $l (local.tee $i (i32.add (local.get $i) (i32.const -1)))))", -1},
    {"down_by_subtraction", "(loop $l (br_if $l (local.tee $i (i32.sub (local.get $i) (i32.const 2)))))", -2},
    {"less_unsigned", "(loop $l (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))", 1},
    {"greater_signed", "(loop $l (br_if $l (i32.gt_s (local.get $n) (local.tee $i (i32.add (local.get $i) (i32.const 1))))))", 1},
    {"exit_in_the_middle",
     "(block $out (loop $l (br_if $out (local.get $x)) (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 1))) "
     "(local.get $n)))))",
     1},
};

const LoopCase kOtherLoops[] = {
    {"written_twice",
     "(loop $l (local.set $i (i32.const 0)) (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))"},
    {"step_only_sometimes",
     "(loop $l (if (local.get $x) (local.set $i (i32.add (local.get $i) (i32.const 1)))) (br_if $l (i32.ne (local.get $i) (local.get "
     "$n))))"},
    {"step_may_be_jumped_over",
     "(loop $l (block $skip (br_if $skip (local.get $x)) (local.set $i (i32.add (local.get $i) (i32.const 1)))) "
     "(br_if $l (i32.ne (local.get $i) (local.get $n))))"},
    {"write_after_the_test",
     "(loop $l (br_if $l (i32.ne (local.get $i) (local.get $n))) (local.set $i (i32.add (local.get $i) (i32.const 1))))"},
    {"bound_changes",
     "(loop $l (local.set $n (i32.load (i32.const 0))) (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 1))) "
     "(local.get $n))))"},
    {"bound_is_computed", "(loop $l (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.load (i32.const 0)))))"},
    {"step_of_three", "(loop $l (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 3))) (local.get $n))))"},
    {"step_of_zero", "(loop $l (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 0))) (local.get $n))))"},
    {"less_could_wrap", "(loop $l (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 2))) (local.get $n))))"},
    {"less_downwards", "(loop $l (br_if $l (i32.lt_s (local.tee $i (i32.sub (local.get $i) (i32.const 1))) (local.get $n))))"},
    {"less_or_equal", "(loop $l (br_if $l (i32.le_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))"},
    {"two_back_edges",
     "(loop $l (br_if $l (local.get $x)) (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))"},
    {"back_edge_without_condition", "(loop $l (local.set $i (i32.add (local.get $i) (i32.const 1))) (br $l))"},
    {"step_is_not_constant", "(loop $l (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (local.get $x))) (local.get $n))))"},
    {"step_of_another_variable", "(loop $l (br_if $l (i32.ne (local.tee $i (i32.add (local.get $x) (i32.const 1))) (local.get $n))))"},
};

std::string case_name(const ::testing::TestParamInfo<LoopCase>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Counted, CountedLoops, ::testing::ValuesIn(kCountedLoops), case_name);
INSTANTIATE_TEST_SUITE_P(NotCounted, CountedLoops, ::testing::ValuesIn(kOtherLoops), case_name);

std::uint64_t cost_of_first_loop(const std::string& text) {
  const test::TextModule module(text);
  EXPECT_TRUE(module.is_valid());
  const CallGraph graph(module.ref());
  return LoopCosts(graph).cost_of(module.find("f", Node::loop));
}

constexpr const char* kToTen = "(loop $l (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 10))))";

TEST(LoopCosts, MultiplyAKnownTripCount) {
  const std::uint64_t once = cost_of_first_loop(with_loop("(local.set $i (i32.const 9))", kToTen));
  EXPECT_EQ(cost_of_first_loop(with_loop("(local.set $i (i32.const 0))", kToTen)), 10 * once);
}

TEST(LoopCosts, AreUnboundedWhereTheStartIsNotKnown) {
  const std::string set_in_branch = "(local.set $i (i32.const 0)) (if (local.get $x) (local.set $i (i32.const -1000000)))";
  const std::string in_else = std::string("(local.set $i (i32.const 0)) (if (local.tee $i (call $opaque)) (nop) ") + kToTen + ")";
  EXPECT_EQ(cost_of_first_loop(with_loop("", kToTen)), LoopCosts::kUnbounded);
  EXPECT_EQ(cost_of_first_loop(with_loop("(local.set $i (call $opaque))", kToTen)), LoopCosts::kUnbounded);
  EXPECT_EQ(cost_of_first_loop(with_loop(set_in_branch, kToTen)), LoopCosts::kUnbounded);
  EXPECT_EQ(cost_of_first_loop(with_loop("(local.set $i (i32.const 11))", kToTen)), LoopCosts::kUnbounded) << "runs through all numbers";
  EXPECT_EQ(cost_of_first_loop(with_loop(in_else, "")), LoopCosts::kUnbounded) << "the condition of the if writes the variable";
}

TEST(LoopCosts, TheStartInAnOuterLoopIsThatOfItsFirstTurnOnly) {
  const test::TextModule module(
      with_loop("(local.set $i (i32.const 0))", std::string("(loop $outer ") + kToTen + "(br_if $outer (local.get $x)))"));
  const CallGraph graph(module.ref());
  EXPECT_EQ(LoopCosts(graph).cost_of(module.find("f", Node::loop, 1)), LoopCosts::kUnbounded);
}

TEST(LoopCosts, ALoopThatNeverRepeatsCostsItsBody) {
  EXPECT_LT(cost_of_first_loop(with_loop("", "(loop $l (local.set $i (i32.const 0)))")), 10u);
}

TEST(LoopCosts, CountTheFunctionsThatAreCalled) {
  const std::string calling =
      "(loop $l (drop (call $opaque)) (br_if $l (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 1))) "
      "(i32.const 10))))";
  const std::uint64_t alone = cost_of_first_loop(with_loop("(local.set $i (i32.const 0))", kToTen));
  EXPECT_GT(cost_of_first_loop(with_loop("(local.set $i (i32.const 0))", calling)), alone + 10 * 3);
  const std::string recursive =
      "(loop $l (call $f (local.get $i) (local.get $n) (local.get $x)) (br_if $l (i32.ne (local.tee $i (i32.add "
      "(local.get $i) (i32.const 1))) (i32.const 10))))";
  EXPECT_EQ(cost_of_first_loop(with_loop("(local.set $i (i32.const 0))", recursive)), LoopCosts::kUnbounded);
}

TEST(LoopCosts, CountTheBytesOfBulkMemory) {
  const std::string filling =
      "(loop $l (memory.fill (i32.const 0) (i32.const 0) (i32.const 65536)) (br_if $l (i32.ne (local.tee $i "
      "(i32.add (local.get $i) (i32.const 1))) (i32.const 100))))";
  EXPECT_GT(cost_of_first_loop(with_loop("(local.set $i (i32.const 0))", filling)), LoopCosts::kShort);
}

}  // namespace
}  // namespace gw::prep
