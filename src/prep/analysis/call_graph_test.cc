#include "prep/analysis/call_graph.h"

#include <gmock/gmock.h>

#include "prep/test/test_support.h"

namespace gw::prep {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<std::string> names(const CallGraph& graph, const std::vector<bool>& members) {
  std::vector<std::string> list;
  for (std::size_t f = 0; f < members.size(); ++f)
    if (members[f]) list.push_back(graph.functions()[f].name);
  return list;
}

TEST(CallGraph, IndirectCallsReachOnlyTableFunctionsOfTheirSignature) {
  const test::TextModule module(R"((module
    (table $t 3 funcref)
    (elem (i32.const 0) $unary $other_unary $binary)
    (func $unary (param i32))
    (func $other_unary (param i32))
    (func $binary (param i32 i32))
    (func $not_in_table (param i32))
    (func $caller (call_indirect (param i32) (i32.const 0) (i32.const 1)))))");
  const CallGraph graph(module.ref());
  std::vector<std::string> reached;
  for (CallGraph::Index f : graph.functions()[graph.index_of("caller")].callees) reached.push_back(graph.functions()[f].name);
  EXPECT_THAT(reached, UnorderedElementsAre("unary", "other_unary"));
}

TEST(CallGraph, KnowsWhichImportsMayBlock) {
  const test::TextModule module(R"((module
    (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
    (import "elsewhere" "fd_read" (func $stranger))))");
  const CallGraph graph(module.ref());
  EXPECT_TRUE(graph.functions()[graph.index_of("read")].blocking_import);
  EXPECT_FALSE(graph.functions()[graph.index_of("args")].blocking_import);
  EXPECT_FALSE(graph.functions()[graph.index_of("stranger")].blocking_import);
}

TEST(CallGraph, CallersIncludeThoseThroughTheTable) {
  const test::TextModule module(R"((module
    (table $t 1 funcref)
    (elem (i32.const 0) $seed)
    (func $seed)
    (func $direct (call $seed))
    (func $above (call $direct))
    (func $indirect (call_indirect (i32.const 0)))
    (func $apart)))");
  const CallGraph graph(module.ref());
  std::vector<bool> seeds(graph.functions().size(), false);
  seeds[graph.index_of("seed")] = true;
  EXPECT_THAT(names(graph, graph.callers_of(seeds)), UnorderedElementsAre("seed", "direct", "above", "indirect"));
}

// Calls along the edges, breakers removed: must be free of cycles.
bool has_cycle_without(const CallGraph& graph, const std::vector<bool>& removed) {
  std::size_t left = graph.functions().size();
  std::vector<bool> done(left, false);
  for (bool progress = true; progress;) {
    progress = false;
    for (CallGraph::Index f = 0; f < graph.functions().size(); ++f) {
      if (done[f]) continue;
      const auto& callees = graph.functions()[f].callees;
      if (!removed[f] && !std::ranges::all_of(callees, [&](CallGraph::Index c) { return done[c]; })) continue;
      done[f] = progress = true;
      --left;
    }
  }
  return left != 0;
}

TEST(CallGraph, RecursionBreakersCutEveryCycle) {
  const test::TextModule module(R"((module
    (table $t 2 funcref)
    (elem (i32.const 0) $callback $through_table)
    (func $self (call $self))
    (func $even (call $odd))
    (func $odd (call $even))
    (func $a (call $b) (call $c))
    (func $b (call $c))
    (func $c (call $a))
    (func $callback (param i32) (call_indirect (param i32) (i32.const 0) (i32.const 1)))
    (func $through_table (param i32) (call $callback (local.get 0)))
    (func $plain (call $leaf))
    (func $leaf)))");
  const CallGraph graph(module.ref());
  const std::vector<bool> breakers = graph.recursion_breakers();
  EXPECT_FALSE(has_cycle_without(graph, breakers));
  EXPECT_TRUE(breakers[graph.index_of("self")]);
  EXPECT_FALSE(breakers[graph.index_of("plain")]);
  EXPECT_FALSE(breakers[graph.index_of("leaf")]);
}

TEST(CallGraph, CalleesComeBeforeTheirCallers) {
  const test::TextModule module("(module (func $top (call $middle)) (func $middle (call $bottom)) (func $bottom))");
  const CallGraph graph(module.ref());
  std::vector<std::string> order;
  for (CallGraph::Index f : graph.callees_first()) order.push_back(graph.functions()[f].name);
  EXPECT_THAT(order, ElementsAre("bottom", "middle", "top"));
}

}  // namespace
}  // namespace gw::prep
