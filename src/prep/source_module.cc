#include "prep/source_module.h"

#include <algorithm>
#include <utility>

#include "prep/exceptions/exceptions.h"
#include "prep/mobility/two_bodies.h"
#include "wire/wasm/line_table.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::prep {
namespace {

constexpr const char* kStartExport = "_start";
constexpr const char* kPollCellSymbol = "godwit_poll_cell";
constexpr std::uint64_t kMaxPages = 65536;

// Everything V8 and the browsers have without a flag and that we know how to suspend.
BinaryenFeatures allowed_features() {
  return BinaryenFeatureMutableGlobals() | BinaryenFeatureBulkMemory() | BinaryenFeatureNontrappingFPToInt() | BinaryenFeatureSignExt() |
         BinaryenFeatureSIMD128();
}

constexpr std::uint32_t kUnwindPages = kUnwindBytes / kWasmPageBytes;

// The memory section with `extra` more pages.
Result<Bytes> larger_memory_section(const wire::MemoryType& memory, std::uint32_t extra) {
  if (memory.min_pages + extra > kMaxPages)
    return fail(Kind::unsupported, "the module starts with {} pages of memory, which leaves no room for its frames", memory.min_pages);
  ByteWriter payload;
  payload.leb_u32(1);
  payload.u8(memory.max_pages ? 1 : 0);
  payload.leb_u32(static_cast<std::uint32_t>(memory.min_pages) + extra);
  if (memory.max_pages) payload.leb_u32(static_cast<std::uint32_t>(std::min(*memory.max_pages + extra, kMaxPages)));
  return wire::make_section(wire::SectionId::memory, payload.view());
}

// The names that the transformation adds start or end like this; see mobility/two_bodies.h, mobility/unwind_stack.h.
bool is_reserved_name(std::string_view name) { return name.starts_with("gw$") || is_rewind_name(name); }

Status check_not_mobile_yet(ByteView wasm) {
  if (wire::read_module_info(wasm)) return fail(Kind::invalid, "the module is mobile already: run it as it is, or start from the original");
  GW_TRY(auto exports, wire::read_exports(wasm));
  for (const wire::Export& symbol : exports)
    if (symbol.name.starts_with("godwit."))
      return fail(Kind::invalid, "the module exports '{}': names that start with 'godwit.' are reserved", symbol.name);
  return ok();
}

struct Prepared {
  Bytes wasm;
  std::optional<std::uint32_t> start_function;
  UnwindArea unwind_area;  // none at level off
  bool has_tags = false;   // exception tags
};

// Binaryen's C API can neither read the start function nor change the size of the memory, so both are seen to before it parses the module.
Result<Prepared> prepare(ByteView wasm, wire::Level level) {
  GW_TRY(auto sections, wire::read_sections(wasm));
  GW_TRY(auto names, wire::read_function_names(wasm));
  // Names are for display only: drop those of a module that uses reserved names.
  const bool names_collide = std::ranges::any_of(names, [](const auto& entry) { return is_reserved_name(entry.second); });
  Prepared prepared;
  ByteWriter out;
  out.bytes(wasm.first(wire::kModuleHeaderBytes));
  for (const wire::Section& section : sections) {
    if (section.name == "name" && names_collide) continue;
    // These sections describe code that the passes replace. Lines are carried by markers (lines/line_markers.h).
    if (section.name.starts_with(".debug_") || section.name == wire::kLinesSection) continue;
    prepared.has_tags |= section.id == wire::SectionId::tag;
    if (section.id == wire::SectionId::start) {
      ByteReader reader(section.payload);
      GW_TRY(prepared.start_function, reader.leb_u32());
    } else if (section.id == wire::SectionId::memory && level != wire::Level::off) {
      GW_TRY(auto memory, wire::read_memory(wasm));
      GW_TRY(auto larger, larger_memory_section(memory, kUnwindPages));
      out.bytes(larger);
      prepared.unwind_area = {static_cast<std::uint32_t>(memory.min_pages) * kWasmPageBytes, kUnwindBytes};
    } else {
      out.bytes(section.whole);
    }
  }
  prepared.wasm = out.take();
  return prepared;
}

// The value of an exported immutable i32 global, as wasm-ld makes for an exported data symbol.
std::optional<std::uint32_t> exported_address(BinaryenModuleRef module, const char* name) {
  BinaryenExportRef symbol = BinaryenGetExport(module, name);
  if (!symbol || BinaryenExportGetKind(symbol) != BinaryenExternalGlobal()) return std::nullopt;
  BinaryenGlobalRef global = BinaryenGetGlobal(module, BinaryenExportGetValue(symbol));
  if (!global || BinaryenGlobalIsMutable(global)) return std::nullopt;
  const auto value = const_i32(BinaryenGlobalGetInitExpr(global));
  return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

}  // namespace

Result<SourceModule> SourceModule::parse(ByteView wasm, wire::Level level) {
  GW_TRY_VOID(check_not_mobile_yet(wasm));
  GW_TRY(auto prepared, prepare(wasm, level));
  SourceModule source(BinaryenModuleRead(reinterpret_cast<char*>(prepared.wasm.data()), prepared.wasm.size()));
  source.features_ = allowed_features();
  BinaryenModuleSetFeatures(source.module_, source.features_ | (prepared.has_tags ? BinaryenFeatureExceptionHandling() : 0));
  GW_TRY_VOID(source.check_contents());
  if (!BinaryenModuleValidate(source.module_))
    return fail(Kind::unsupported, "the module uses wasm features that cannot be moved (see the lines above): build it without them");
  GW_TRY_VOID(source.call_start_function_from_start_export(prepared.start_function));
  if (prepared.has_tags) GW_TRY_VOID(source.replace_exceptions());
  source.unwind_area_ = prepared.unwind_area;
  if (BinaryenGetExport(source.module_, kPollCellSymbol) && source.poll_cell().value_or(0) == 0)
    return fail(Kind::invalid, "the module exports {} as something else than the address of data", kPollCellSymbol);
  return source;
}

SourceModule::SourceModule(SourceModule&& other) noexcept
    : module_(std::exchange(other.module_, nullptr)), features_(other.features_), unwind_area_(other.unwind_area_) {}

SourceModule::~SourceModule() {
  if (module_) BinaryenModuleDispose(module_);
}

Status SourceModule::check_contents() const {
  if (BinaryenGetNumTables(module_) > 1) return fail(Kind::unsupported, "the module has more than one table: only one can be moved");
  for (BinaryenIndex i = 0; i < BinaryenGetNumElementSegments(module_); ++i) {
    BinaryenElementSegmentRef segment = BinaryenGetElementSegmentByIndex(module_, i);
    if (BinaryenElementSegmentIsPassive(segment) || !const_i32(BinaryenElementSegmentGetOffset(segment)))
      return fail(Kind::unsupported, "the module fills its function table at run time: link it statically");
    for (BinaryenIndex k = 0; k < BinaryenElementSegmentGetLength(segment); ++k)
      if (!BinaryenElementSegmentGetData(segment, k))
        return fail(Kind::unsupported, "the function table of the module is filled with null references: build it without reference types");
  }
  for (BinaryenIndex i = 0; i < BinaryenGetNumGlobals(module_); ++i) {
    BinaryenGlobalRef global = BinaryenGetGlobalByIndex(module_, i);
    const Type type = BinaryenGlobalGetType(global);
    if (BinaryenGlobalIsMutable(global) && (type == BinaryenTypeVec128() || BinaryenTypeArity(type) != 1))
      return fail(Kind::unsupported, "the module has a mutable global of a vector type, which other engines cannot restore");
  }
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module_); ++i) {
    BinaryenFunctionRef function = BinaryenGetFunctionByIndex(module_, i);
    const std::string name = readable_name(BinaryenFunctionGetName(function));
    if (BinaryenTypeArity(BinaryenFunctionGetResults(function)) > 1)
      return fail(Kind::unsupported, "function {} returns several values: build the module without multivalue", name);
    bool supported = true;
    if (Expr body = BinaryenFunctionGetBody(function)) walk(body, [&](Expr e) { supported &= !is(e, Node::unsupported); });
    if (!supported) return fail(Kind::unsupported, "function {} uses threads, references or GC types: build the module without them", name);
  }
  return ok();
}

Status SourceModule::replace_exceptions() {
  GW_TRY_VOID(lower_exceptions(module_));
  BinaryenModuleSetFeatures(module_, features_);
  if (BinaryenModuleValidate(module_)) return ok();
  return fail(Kind::internal,
              "the replacement of exceptions made an invalid module (see the lines above): please report it with the module");
}

Status SourceModule::call_start_function_from_start_export(std::optional<std::uint32_t> index) {
  if (!index) return ok();
  if (*index >= BinaryenGetNumFunctions(module_)) return fail(Kind::corrupt, "the start function {} does not exist", *index);
  const Builder build(module_);
  std::vector<Expr> calls{build.call(BinaryenFunctionGetName(BinaryenGetFunctionByIndex(module_, *index)), {}, BinaryenTypeNone())};
  if (BinaryenExportRef old = BinaryenGetExport(module_, kStartExport)) {
    calls.push_back(build.call(BinaryenExportGetValue(old), {}, BinaryenTypeNone()));
    BinaryenRemoveExport(module_, kStartExport);
  }
  const FunctionDraft both{"gw$start", BinaryenTypeNone(), BinaryenTypeNone(), {}, build.sequence(std::move(calls))};
  build.add(both);
  BinaryenAddFunctionExport(module_, both.name.c_str(), kStartExport);
  return ok();
}

std::optional<std::uint32_t> SourceModule::poll_cell() const { return exported_address(module_, kPollCellSymbol); }

}  // namespace gw::prep
