#include "prep/exceptions/exception_landings.h"

#include <gtest/gtest.h>

#include "prep/exceptions/exceptions.h"
#include "prep/passes/lift.h"
#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using test::TextModule;

// $work polls and throws; the sites of $f after the merge.
class Landings : public ::testing::Test {
 protected:
  SavePlan sites_of_f(const std::string& f) {
    module_ = std::make_unique<TextModule>(
        "(module (tag $a (param i32)) (func $gw$poll) (func $work (result i32) (call $gw$poll) (throw $a (i32.const 1)))" +
        std::string("(func $calm (call $gw$poll))") + f + "(export \"f\" (func $f)))");
    EXPECT_TRUE(lower_exceptions(module_->ref()).has_value());
    const CallGraph graph(module_->ref());
    const SiteRules rules = test::rules_of(graph);
    const Builder build(module_->ref());
    FunctionDraft draft = build.read("f");
    lift_sites(draft, rules, build);
    SavePlan plan = plan_saves(draft, rules);
    merge_exception_checks(build, rules, draft.body, plan);
    checks_left_ = 0;
    walk(draft.body, [&](Expr e) { checks_left_ += is_exception_check(e) ? 1 : 0; });
    return plan;
  }

  std::unique_ptr<TextModule> module_;
  unsigned checks_left_ = 0;
};

TEST_F(Landings, ASiteTakesOverTheCheckBehindIt) {
  const SavePlan plan = sites_of_f("(func $f (drop (call $work)) (call $calm))");
  ASSERT_EQ(plan.sites.size(), 2u);
  EXPECT_TRUE(plan.sites[0].may_throw);
  EXPECT_STREQ(plan.sites[0].landing, kThrowLabel);
  EXPECT_FALSE(plan.sites[1].may_throw);
  EXPECT_EQ(plan.sites[1].landing, nullptr);
  EXPECT_EQ(checks_left_, 0u);
}

TEST_F(Landings, InsideATryTheSiteGoesToItsLanding) {
  const SavePlan plan = sites_of_f("(func $f (local i32) (try (do (local.set 0 (call $work))) (catch $a (local.set 0 (pop i32)))))");
  ASSERT_EQ(plan.sites.size(), 1u);
  EXPECT_TRUE(plan.sites[0].may_throw);
  ASSERT_NE(plan.sites[0].landing, nullptr);
  EXPECT_STRNE(plan.sites[0].landing, kThrowLabel);
  EXPECT_EQ(checks_left_, 0u);
}

}  // namespace
}  // namespace gw::prep
