#include "prep/analysis/function_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "prep/mobility/two_bodies.h"
#include "wire/wasm/wasi_imports.h"

namespace gw::prep {
namespace {

constexpr const char* kNoRewind = "gw$no_rewind";
constexpr const char* kConfine = "gw$confine";

bool is_blocking_import(BinaryenModuleRef module, const std::string& name) {
  BinaryenFunctionRef function = BinaryenGetFunction(module, name.c_str());
  const std::string_view import_module = BinaryenFunctionImportGetModule(function);
  if (import_module.empty()) return false;
  const wire::HostFunction* host = wire::find_importable(import_module, BinaryenFunctionImportGetBase(function));
  return host && host->blocking == wire::Blocking::maybe;
}

class ImportWrapper {
 public:
  explicit ImportWrapper(const Builder& build) : build_(build), module_(build.module()) {}

  // All segments are written anew, in their order: a later one may overwrite what an earlier one wrote.
  void wrap_table_entries() {
    std::vector<Segment> segments;
    for (BinaryenIndex i = 0; i < BinaryenGetNumElementSegments(module_); ++i)
      segments.push_back(read(BinaryenGetElementSegmentByIndex(module_, i)));
    if (std::ranges::none_of(segments, &Segment::changed)) return;
    for (const Segment& segment : segments) BinaryenRemoveElementSegment(module_, segment.name.c_str());
    for (const Segment& segment : segments) add(segment);
  }

  void wrap_exports() {
    std::vector<std::pair<std::string, std::string>> exported;
    for (BinaryenIndex i = 0; i < BinaryenGetNumExports(module_); ++i) {
      BinaryenExportRef symbol = BinaryenGetExportByIndex(module_, i);
      if (BinaryenExportGetKind(symbol) == BinaryenExternalFunction() && is_blocking_import(module_, BinaryenExportGetValue(symbol)))
        exported.emplace_back(BinaryenExportGetName(symbol), BinaryenExportGetValue(symbol));
    }
    for (const auto& [name, function] : exported) {
      BinaryenRemoveExport(module_, name.c_str());
      BinaryenAddFunctionExport(module_, wrapper_of(function).c_str(), name.c_str());
    }
  }

 private:
  struct Segment {
    std::string name, table;
    Expr offset;
    std::vector<std::string> entries;
    bool changed = false;
  };

  Segment read(BinaryenElementSegmentRef ref) {
    Segment segment{
        BinaryenElementSegmentGetName(ref), BinaryenElementSegmentGetTable(ref), build_.copy(BinaryenElementSegmentGetOffset(ref)), {}};
    for (BinaryenIndex k = 0; k < BinaryenElementSegmentGetLength(ref); ++k) {
      const std::string function = BinaryenElementSegmentGetData(ref, k);
      const bool wrap = is_blocking_import(module_, function);
      segment.changed |= wrap;
      segment.entries.push_back(wrap ? wrapper_of(function) : function);
    }
    return segment;
  }

  void add(const Segment& segment) const {
    std::vector<const char*> names;
    for (const std::string& entry : segment.entries) names.push_back(entry.c_str());
    BinaryenAddActiveElementSegment(module_, segment.table.c_str(), segment.name.c_str(), names.data(),
                                    static_cast<BinaryenIndex>(names.size()), segment.offset);
  }

  std::string wrapper_of(const std::string& import) {
    auto [it, fresh] = wrappers_.emplace(import, "gw$call$" + import);
    if (!fresh) return it->second;
    BinaryenFunctionRef function = BinaryenGetFunction(module_, import.c_str());
    FunctionDraft draft{it->second, BinaryenFunctionGetParams(function), BinaryenFunctionGetResults(function), {}, nullptr};
    draft.locals = expand(draft.params);
    std::vector<Expr> arguments;
    for (Local l = 0; l < draft.locals.size(); ++l) arguments.push_back(build_.get(l, draft.locals[l]));
    draft.body = build_.call(import, std::move(arguments), draft.results);
    build_.add(draft);
    return it->second;
  }

  const Builder& build_;
  BinaryenModuleRef module_;
  std::map<std::string, std::string> wrappers_;
};

}  // namespace

std::uint32_t table_size(BinaryenModuleRef module) {
  return BinaryenGetNumTables(module) == 0 ? 0 : BinaryenTableGetInitial(BinaryenGetTableByIndex(module, 0));
}

void wrap_addressed_imports(const Builder& build) {
  ImportWrapper wrapper(build);
  wrapper.wrap_table_entries();
  wrapper.wrap_exports();
}

void confine_indirect_calls(const Builder& build) {
  BinaryenModuleRef module = build.module();
  const std::uint32_t half = table_size(module);
  bool used = false;
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i) {
    Expr body = BinaryenFunctionGetBody(BinaryenGetFunctionByIndex(module, i));
    if (!body) continue;
    walk(body, [&](Expr e) {
      if (!is(e, Node::call_indirect) || BinaryenCallIndirectGetParams(e) != BinaryenTypeNone()) return;
      const auto constant = const_i32(BinaryenCallIndirectGetTarget(e));
      if (constant && static_cast<std::uint32_t>(*constant) < half) return;
      used = true;
      BinaryenCallIndirectSetTarget(e, build.call(kConfine, {BinaryenCallIndirectGetTarget(e)}, BinaryenTypeInt32()));
    });
  }
  if (!used) return;
  Expr in_lower_half = build.binary(BinaryenLtUInt32(), build.get_i32(0), build.i32(static_cast<std::int32_t>(half)));
  build.add({kConfine,
             BinaryenTypeInt32(),
             BinaryenTypeInt32(),
             {BinaryenTypeInt32()},
             build.if_else(in_lower_half, build.get_i32(0), build.i32(-1))});
}

void add_rewind_entries(const Builder& build, const CallGraph& graph, const SiteRules& rules) {
  BinaryenModuleRef module = build.module();
  const std::uint32_t half = table_size(module);
  std::vector<std::string> entries(half, kNoRewind);
  for (BinaryenIndex i = 0; i < BinaryenGetNumElementSegments(module); ++i) {
    BinaryenElementSegmentRef segment = BinaryenGetElementSegmentByIndex(module, i);
    const auto offset = static_cast<std::uint32_t>(*const_i32(BinaryenElementSegmentGetOffset(segment)));
    for (BinaryenIndex k = 0; k < BinaryenElementSegmentGetLength(segment); ++k) {
      const std::string function = BinaryenElementSegmentGetData(segment, k);
      const CallGraph::Index f = graph.index_of(function);
      const bool two_bodies = rules.may_suspend(f) && !graph.functions()[f].imported;
      if (two_bodies && std::uint64_t{offset} + k < half) entries[offset + k] = rewind_name(function);
    }
  }
  if (std::ranges::all_of(entries, [](const std::string& entry) { return entry == kNoRewind; })) return;
  build.add({kNoRewind, BinaryenTypeNone(), BinaryenTypeNone(), {}, build.unreachable()});
  BinaryenTableRef table = BinaryenGetTableByIndex(module, 0);
  BinaryenTableSetInitial(table, 2 * half);
  if (BinaryenTableHasMax(table)) BinaryenTableSetMax(table, std::max(BinaryenTableGetMax(table), 2 * half));
  std::vector<const char*> names;
  for (const std::string& entry : entries) names.push_back(entry.c_str());
  BinaryenAddActiveElementSegment(module, BinaryenTableGetName(table), "gw$rewind_entries", names.data(), half,
                                  build.i32(static_cast<std::int32_t>(half)));
}

}  // namespace gw::prep
