#include "prep/mobility/mobility.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "prep/analysis/call_graph.h"
#include "prep/analysis/function_table.h"
#include "prep/exceptions/exceptions.h"
#include "prep/mobility/guest_threads.h"
#include "prep/mobility/two_bodies.h"
#include "prep/passes/lift.h"

namespace gw::prep {
namespace {

constexpr const char* kCounter = "gw$counter";

Expr cell_condition(const Builder& build, std::uint32_t cell) {
  return BinaryenLoad(build.module(), 4, false, 0, 4, BinaryenTypeInt32(), build.i32(static_cast<std::int32_t>(cell)));
}

Expr counter_condition(const Builder& build) {
  Expr less = build.binary(BinaryenSubInt32(), build.global(kCounter), build.i32(1));
  Expr ran_out = build.binary(BinaryenLtSInt32(), build.global(kCounter), build.i32(0));
  return build.block(nullptr, {build.set_global(kCounter, less), ran_out}, BinaryenTypeInt32());
}

SiteRules make_rules(const CallGraph& graph) {
  std::vector<bool> seeds(graph.functions().size(), false);
  for (CallGraph::Index f = 0; f < seeds.size(); ++f)
    seeds[f] = graph.functions()[f].is_poll_marker || graph.functions()[f].blocking_import;
  return SiteRules(graph, graph.callers_of(std::move(seeds)));
}

// The host enters through exports: one that may suspend goes to the body that fits.
void dispatch_exports(const Builder& build, const CallGraph& graph, const SiteRules& rules) {
  BinaryenModuleRef module = build.module();
  std::vector<std::pair<std::string, std::string>> exported;
  for (BinaryenIndex i = 0; i < BinaryenGetNumExports(module); ++i) {
    BinaryenExportRef symbol = BinaryenGetExportByIndex(module, i);
    if (BinaryenExportGetKind(symbol) != BinaryenExternalFunction()) continue;
    const CallGraph::Index f = graph.index_of(BinaryenExportGetValue(symbol));
    if (rules.may_suspend(f) && !graph.functions()[f].imported)
      exported.emplace_back(BinaryenExportGetName(symbol), BinaryenExportGetValue(symbol));
  }
  for (const auto& [name, function] : exported) {
    BinaryenFunctionRef ref = BinaryenGetFunction(module, function.c_str());
    FunctionDraft entry{"gw$export$" + name, BinaryenFunctionGetParams(ref), BinaryenFunctionGetResults(ref), {}, nullptr};
    entry.locals = expand(entry.params);
    std::vector<Expr> arguments;
    for (Local l = 0; l < entry.locals.size(); ++l) arguments.push_back(build.get(l, entry.locals[l]));
    entry.body = build.if_else(build.global(kRewinding), build.call(rewind_name(function), {}, entry.results),
                               build.call(function, std::move(arguments), entry.results));
    build.add(entry);
    BinaryenRemoveExport(module, name.c_str());
    BinaryenAddFunctionExport(module, entry.name.c_str(), name.c_str());
  }
}

void export_controls(const Builder& build, const MobilityPlan& plan) {
  BinaryenModuleRef module = build.module();
  BinaryenAddGlobalExport(module, kUnwinding, "godwit.unwinding");
  BinaryenAddGlobalExport(module, kRewinding, "godwit.rewinding");
  if (plan.poll == wire::Poll::counter) BinaryenAddGlobalExport(module, kCounter, "godwit.counter");
  BinaryenAddFunctionExport(module, kBeginUnwind, "godwit.begin_unwind");
}

wire::ValueType value_type(Type type) {
  if (type == BinaryenTypeInt32()) return wire::ValueType::i32;
  if (type == BinaryenTypeInt64()) return wire::ValueType::i64;
  if (type == BinaryenTypeFloat32()) return wire::ValueType::f32;
  GW_ASSERT(type == BinaryenTypeFloat64());
  return wire::ValueType::f64;
}

}  // namespace

void make_mobile(BinaryenModuleRef module, const MobilityPlan& plan, Report& report) {
  const Builder build(module);
  wrap_addressed_imports(build);
  confine_indirect_calls(build);
  const GuestThreads threads(build);
  const CallGraph graph(module);
  const SiteRules rules = make_rules(graph);
  if (plan.poll == wire::Poll::counter) BinaryenAddGlobal(module, kCounter, BinaryenTypeInt32(), true, build.i32(INT32_MAX));
  UnwindStack stack(build, plan.unwind, plan.verify);
  const std::function<Expr()> condition = [&] {
    return plan.poll == wire::Poll::counter ? counter_condition(build) : cell_condition(build, plan.poll_cell);
  };
  const MobilityContext context{build, rules, stack, condition, table_size(module), plan.line_marker};
  for (CallGraph::Index f = 0; f < graph.functions().size(); ++f) {
    if (graph.functions()[f].imported || !rules.may_suspend(f) || threads.is_run(graph.functions()[f].name)) continue;
    FunctionDraft draft = build.take(graph.functions()[f].name);
    lift_sites(draft, rules, build);
    const TwoBodies bodies = make_two_bodies(std::move(draft), context);
    build.add(bodies.fast);
    build.add(bodies.rewind);
    ++report.instrumented;
    report.sites += bodies.sites;
  }
  threads.add_code(stack, context.table_half);
  add_rewind_entries(build, graph, rules);
  dispatch_exports(build, graph, rules);
  if (BinaryenGetFunction(module, kPollMarker)) BinaryenRemoveFunction(module, kPollMarker);
  stack.hide_area(threads.used() ? UnwindStack::Content::frames : UnwindStack::Content::none);
  export_controls(build, plan);
}

std::vector<wire::ValueType> export_state_globals(BinaryenModuleRef module, const std::string& no_state) {
  std::vector<std::string> state;
  std::vector<wire::ValueType> types;
  for (BinaryenIndex i = 0; i < BinaryenGetNumGlobals(module); ++i) {
    BinaryenGlobalRef global = BinaryenGetGlobalByIndex(module, i);
    const std::string name = BinaryenGlobalGetName(global);
    if (!BinaryenGlobalIsMutable(global) || name == kUnwinding || name == kRewinding || name == kCounter || name == kSwitching) continue;
    if (name.starts_with(kPayloadPrefix) || name == no_state) continue;
    state.push_back(name);
    types.push_back(value_type(BinaryenGlobalGetType(global)));
  }
  for (std::size_t i = 0; i < state.size(); ++i) BinaryenAddGlobalExport(module, state[i].c_str(), fmt::format("godwit.g{}", i).c_str());
  return types;
}

}  // namespace gw::prep
