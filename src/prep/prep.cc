#include "prep/prep.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "prep/analysis/known_targets.h"
#include "prep/lines/line_markers.h"
#include "prep/mobility/guest_threads.h"
#include "prep/mobility/mobility.h"
#include "prep/mobility/two_bodies.h"
#include "prep/passes/bulk_memory.h"
#include "prep/passes/engine_hints.h"
#include "prep/passes/inline.h"
#include "prep/passes/nans.h"
#include "prep/passes/polls.h"
#include "prep/source_module.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::prep {
namespace {

void run_passes(BinaryenModuleRef module, std::vector<const char*> passes) {
  BinaryenModuleRunPasses(module, passes.data(), static_cast<BinaryenIndex>(passes.size()));
}

// The transformed code is valid but verbose: nested lists, copies of locals, branches to the next statement.
// Chosen by measurement: the usual -O3 list costs ten times as long and gains nothing that V8 does not do itself.
// Dead code goes before blocks are merged: libbinaryen 108 moves the second operand of an operator before a first one that never ends, and
// so brings code to life that other passes have taken for dead.
void tidy(BinaryenModuleRef module) {
  BinaryenSetOptimizeLevel(2);
  BinaryenSetShrinkLevel(1);
  run_passes(module, {"dce",
                      "merge-blocks",
                      "optimize-instructions",
                      "remove-unused-brs",
                      "remove-unused-names",
                      "dce",
                      "merge-blocks",
                      "simplify-locals-nostructure",
                      "vacuum",
                      "coalesce-locals",
                      "reorder-locals",
                      "vacuum",
                      "code-folding",
                      "dce",
                      "merge-blocks",
                      "remove-unused-brs",
                      "vacuum",
                      "duplicate-function-elimination",
                      "remove-unused-module-elements",
                      "reorder-functions"});
}

void count_functions(BinaryenModuleRef module, Report& report) {
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i)
    report.functions += BinaryenFunctionGetBody(BinaryenGetFunctionByIndex(module, i)) ? 1 : 0;
}

// The global of the line markers, by name, because passes change the order of globals.
struct MarkerGlobal {
  std::string name;  // empty: there are no markers

  static MarkerGlobal find(BinaryenModuleRef module, const std::optional<MarkedModule>& marked) {
    return {marked ? BinaryenGlobalGetName(BinaryenGetGlobalByIndex(module, marked->global)) : ""};
  }
  // In the module as it is written: imported globals come first.
  std::optional<std::uint32_t> index(BinaryenModuleRef module) const {
    std::uint32_t imported = 0, defined = 0;
    std::optional<std::uint32_t> place;
    for (BinaryenIndex i = 0; i < BinaryenGetNumGlobals(module); ++i) {
      BinaryenGlobalRef global = BinaryenGetGlobalByIndex(module, i);
      const bool is_import = BinaryenGlobalGetInitExpr(global) == nullptr;
      if (!is_import && BinaryenGlobalGetName(global) == name) place = defined;
      ++(is_import ? imported : defined);
    }
    return place ? std::optional(imported + *place) : std::nullopt;
  }
};

void make_module_mobile(const SourceModule& source, const Options& options, const MarkerGlobal& marker, wire::ModuleInfo& info,
                        Report& report) {
  MobilityPlan plan{.unwind = source.unwind_area(), .verify = options.verify, .line_marker = marker.name};
  if (options.level == wire::Level::fine) {
    const auto cell = options.poll == PollChoice::automatic ? source.poll_cell() : std::nullopt;
    plan.poll = cell ? wire::Poll::cell : wire::Poll::counter;
    plan.poll_cell = cell.value_or(0);
    split_bulk_memory(source.ref());
    insert_polls(source.ref(), report);
  }
  make_mobile(source.ref(), plan, report);
  info.poll = plan.poll;
  info.poll_cell = plan.poll_cell;
  info.unwind_bytes = plan.unwind.bytes;
  info.globals = export_state_globals(source.ref(), marker.name);
}

// By defined function, in module order.
std::vector<bool> rewind_bodies(BinaryenModuleRef module) {
  std::vector<bool> flags;
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i) {
    BinaryenFunctionRef function = BinaryenGetFunctionByIndex(module, i);
    if (BinaryenFunctionGetBody(function)) flags.push_back(is_rewind_name(BinaryenFunctionGetName(function)));
  }
  return flags;
}

Bytes write(BinaryenModuleRef module) {
  const BinaryenModuleAllocateAndWriteResult written = BinaryenModuleAllocateAndWrite(module, nullptr);
  const std::unique_ptr<void, decltype(&std::free)> binary(written.binary, &std::free);
  const auto* bytes = static_cast<const std::uint8_t*>(written.binary);
  return Bytes(bytes, bytes + written.binaryBytes);
}

// The module as it is written, without markers, and the section with the lines that they stood for.
struct Written {
  Bytes wasm;
  Bytes lines;  // empty: the module came without lines
};

Result<Written> write_without_markers(BinaryenModuleRef module, const MarkerGlobal& marker, const std::optional<MarkedModule>& marked) {
  Bytes wasm = write(module);
  if (!marked) return Written{std::move(wasm), {}};
  wire::LineTable lines;
  if (const auto index = marker.index(module)) {
    GW_TRY(auto unmarked, take_markers(wasm, *index, *marked));
    wasm = std::move(unmarked.wasm);
    lines = std::move(unmarked.lines);
  }
  return Written{std::move(wasm), wire::make_custom_section(wire::kLinesSection, wire::encode(lines))};
}

}  // namespace

Result<Output> process(ByteView wasm, const Options& options) {
  GW_TRY(auto names, wire::read_function_names(wasm));
  const bool has_names = !names.empty();  // a stripped module stays one
  GW_TRY(const auto marked, mark_lines(wasm));
  GW_TRY(auto source, SourceModule::parse(marked ? marked->wasm : wasm, options.level));
  const MarkerGlobal marker = MarkerGlobal::find(source.ref(), marked);
  GW_TRY_VOID(check_thread_imports(source.ref(), options.level));
  Output output;
  output.report.bytes_before = wasm.size();
  count_functions(source.ref(), output.report);

  wire::ModuleInfo info;
  info.level = options.level;
  info.features = source.features();
  info.source_hash = sha256(wasm);
  info.canonical_nans = options.verify == Verify::yes;
  if (options.level != wire::Level::off) {
    GrowthBudget budget(source.ref());
    output.report.direct_calls = make_few_targets_direct(source.ref(), budget);
    output.report.unrolled = unroll_recursion(source.ref(), budget);
  }
  if (options.verify == Verify::yes) output.report.nan_points = make_nans_canonical(source.ref());
  if (options.level != wire::Level::off) {
    make_module_mobile(source, options, marker, info, output.report);
    tidy(source.ref());
  }
  const Bytes section = wire::encode(info);
  BinaryenAddCustomSection(source.ref(), wire::kModuleInfoSection.data(), reinterpret_cast<const char*>(section.data()),
                           static_cast<BinaryenIndex>(section.size()));
  if (!BinaryenModuleValidate(source.ref()))
    return fail(Kind::internal, "the pre-processor made an invalid module (see the lines above): please report it with the module");
  BinaryenSetDebugInfo(has_names);
  GW_TRY(Written written, write_without_markers(source.ref(), marker, marked));
  output.wasm = std::move(written.wasm);
  if (options.level != wire::Level::off) {
    EngineHints hints{.rarely_called = rewind_bodies(source.ref())};
    if (info.poll == wire::Poll::cell) hints.poll_cell = info.poll_cell;
    GW_TRY(output.wasm, add_engine_hints(output.wasm, hints));
  }
  output.wasm.insert(output.wasm.end(), written.lines.begin(), written.lines.end());
  output.report.bytes_after = output.wasm.size();
  return output;
}

}  // namespace gw::prep
