#include "prep/analysis/liveness.h"

#include <gmock/gmock.h>

#include "prep/passes/lift.h"
#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Analyses the function $f; the locals saved at each of its sites.
struct Plan {
  explicit Plan(const std::string& function)
      : module(R"((module
          (import "godwit" "poll" (func $gw$poll))
          (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
          (memory 1)
          (func $use (param i32))
          (func $site (result i32) (call $gw$poll) (i32.const 1)))" +
               function + ")"),
        graph(module.ref()),
        rules(test::rules_of(graph)) {
    const Builder build(module.ref());
    FunctionDraft draft = build.take("f");
    lift_sites(draft, rules, build);
    saves = plan_saves(draft, rules);
    build.add(draft);
  }
  const std::vector<Local>& saved(std::size_t site) const { return saves.sets[saves.sites[site].save_set]; }

  test::TextModule module;
  CallGraph graph;
  SiteRules rules;
  SavePlan saves;
};

TEST(Liveness, ADeadLocalIsNotSaved) {
  const Plan plan(R"((func $f (param $used i32) (param $dead i32)
    (call $use (local.get $dead))
    (call $gw$poll)
    (call $use (local.get $used))))");
  ASSERT_EQ(plan.saves.sites.size(), 1u);
  EXPECT_THAT(plan.saved(0), ElementsAre(0u));
}

TEST(Liveness, AnOverwrittenLocalIsNotSaved) {
  const Plan plan(R"((func $f (param $x i32)
    (call $gw$poll)
    (local.set $x (i32.const 1))
    (call $use (local.get $x))))");
  EXPECT_THAT(plan.saved(0), IsEmpty());
}

TEST(Liveness, ALocalNeededAfterTheLoopIsSavedInIt) {
  const Plan plan(R"((func $f (param $after i32) (param $inside i32)
    (loop $l
      (call $gw$poll)
      (br_if $l (i32.load (i32.const 0))))
    (call $use (local.get $after))))");
  EXPECT_THAT(plan.saved(0), ElementsAre(0u));
}

TEST(Liveness, ALocalNeededInTheNextTurnIsSaved) {
  const Plan plan(R"((func $f (param $x i32)
    (loop $l
      (call $use (local.get $x))
      (call $gw$poll)
      (br_if $l (i32.load (i32.const 0))))))");
  EXPECT_THAT(plan.saved(0), ElementsAre(0u));
}

TEST(Liveness, BothArmsOfAnIfCount) {
  const Plan plan(R"((func $f (param $a i32) (param $b i32) (param $c i32)
    (call $gw$poll)
    (if (i32.load (i32.const 0)) (call $use (local.get $a)) (call $use (local.get $b)))))");
  EXPECT_THAT(plan.saved(0), ElementsAre(0u, 1u));
}

TEST(Liveness, ABranchCarriesWhatItsTargetNeeds) {
  const Plan plan(R"((func $f (param $a i32) (param $b i32)
    (block $out
      (call $gw$poll)
      (br_if $out (i32.load (i32.const 0)))
      (return))
    (call $use (local.get $b))))");
  EXPECT_THAT(plan.saved(0), ElementsAre(1u));
}

TEST(Liveness, TheOperandsOfABlockingCallAreSaved) {
  const Plan plan(R"((func $f (param $a i32) (param $b i32)
    (drop (call $read (local.get $a) (i32.const 8) (i32.const 1) (local.get $b)))))");
  ASSERT_EQ(plan.saves.sites.size(), 1u);
  EXPECT_EQ(plan.saves.sites[0].kind, SiteKind::blocking_call);
  EXPECT_THAT(plan.saved(0), SizeIs(2));
}

TEST(Liveness, TheOperandsOfACallAreNot) {
  const Plan plan(R"((func $callee (param i32) (call $gw$poll))
    (func $f (param $a i32) (call $callee (local.get $a))))");
  EXPECT_THAT(plan.saved(0), Not(Contains(0u)));
}

TEST(Liveness, SitesAreNumberedInTheOrderOfTheText) {
  const Plan plan(R"((func $f (result i32)
    (call $gw$poll)
    (if (call $site) (drop (call $site)))
    (call $site)))");
  ASSERT_EQ(plan.saves.sites.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(plan.saves.sites[i].number, i + 1);
  EXPECT_EQ(plan.saves.sites[0].kind, SiteKind::poll);
  EXPECT_EQ(plan.saves.sites[1].kind, SiteKind::call);
}

TEST(Liveness, CallsOfOneLoopShareTheirSet) {
  const Plan plan(R"((func $f
    (loop $l
      (drop (call $site))
      (drop (call $site))
      (br_if $l (i32.load (i32.const 0))))
    (drop (call $site))))");
  ASSERT_EQ(plan.saves.sites.size(), 3u);
  EXPECT_EQ(plan.saves.sites[0].save_set, plan.saves.sites[1].save_set);
  EXPECT_NE(plan.saves.sites[0].save_set, plan.saves.sites[2].save_set);
}

}  // namespace
}  // namespace gw::prep
