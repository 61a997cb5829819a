#include "isolate/module_check.h"

#include <algorithm>

#include "isolate/wasi/host_imports.h"
#include "wire/image/image.h"

namespace gw::isolate {
namespace {

using wire::ExternKind;
using wire::ValueType;

Result<wire::ModuleInfo> info_of(ByteView wasm) {
  auto info = wire::read_module_info(wasm);
  if (!info && info.error().kind == Kind::not_found) return wire::ModuleInfo{};
  return info;
}

const HostImport* find_import(const wire::Import& import) {
  auto imports = host_imports();
  auto found =
      std::ranges::find_if(imports, [&](const HostImport& known) { return known.module == import.module && known.name == import.name; });
  return found == imports.end() ? nullptr : &*found;
}

bool same_type(const HostImport& known, const wire::FunctionType& type) {
  auto same_letter = [](char letter, ValueType param) { return param == (letter == 'I' ? ValueType::i64 : ValueType::i32); };
  auto result = known.has_result ? std::vector{ValueType::i32} : std::vector<ValueType>{};
  return std::ranges::equal(known.params, type.params, same_letter) && type.results == result;
}

Status check_imports(ByteView wasm) {
  GW_TRY(auto types, wire::read_types(wasm));
  GW_TRY(auto imports, wire::read_imports(wasm));
  for (const wire::Import& import : imports) {
    const HostImport* known = import.kind == ExternKind::function ? find_import(import) : nullptr;
    if (known == nullptr)
      return fail(Kind::invalid, "the module imports '{}' from '{}', which Godwit does not provide", import.name, import.module);
    if (import.type_index >= types.size() || !same_type(*known, types[import.type_index]))
      return fail(Kind::invalid, "the module imports '{}' from '{}' with another type than it has", import.name, import.module);
  }
  return ok();
}

Status require_export(const std::vector<wire::Export>& exports, std::string_view name, ExternKind kind, std::string_view what) {
  auto found = std::ranges::find_if(exports, [&](const wire::Export& item) { return item.name == name && item.kind == kind; });
  if (found != exports.end()) return ok();
  return fail(Kind::invalid, "the module does not export the {} '{}'", what, name);
}

Status check_exports(ByteView wasm, const wire::ModuleInfo& info) {
  GW_TRY(auto exports, wire::read_exports(wasm));
  GW_TRY_VOID(require_export(exports, "_start", ExternKind::function, "function"));
  GW_TRY_VOID(require_export(exports, "memory", ExternKind::memory, "memory"));
  if (info.level == wire::Level::off) return ok();
  GW_TRY_VOID(require_export(exports, "godwit.begin_unwind", ExternKind::function, "function"));
  GW_TRY_VOID(require_export(exports, "godwit.unwinding", ExternKind::global, "global"));
  GW_TRY_VOID(require_export(exports, "godwit.rewinding", ExternKind::global, "global"));
  if (info.poll == wire::Poll::counter) GW_TRY_VOID(require_export(exports, "godwit.counter", ExternKind::global, "global"));
  for (std::size_t i = 0; i < info.globals.size(); i++)
    GW_TRY_VOID(require_export(exports, fmt::format("godwit.g{}", i), ExternKind::global, "global"));
  return ok();
}

// The host writes to the poll cell without asking, so it must lie in memory that exists from the start.
Status check_reserved_words(const wire::ModuleInfo& info, const wire::MemoryType& memory) {
  std::uint64_t bytes = memory.min_pages * wire::kPageBytes;
  bool cell_inside = info.poll != wire::Poll::cell || std::uint64_t{info.poll_cell} + 4 <= bytes;
  bool stack_inside = info.unwind_base == 0 || std::uint64_t{info.unwind_base} + info.unwind_bytes <= bytes;
  if (cell_inside && stack_inside) return ok();
  return fail(Kind::invalid, "the poll cell or unwind stack of the module lies outside its initial memory");
}

}  // namespace

Result<ModuleFacts> check_module(ByteView wasm) {
  if (wasm.size() > wire::kMaxModuleBytes)
    return fail(Kind::invalid, "the module has {} bytes, at most {} are possible", wasm.size(), wire::kMaxModuleBytes);
  GW_TRY(auto sections, wire::read_sections(wasm));
  if (std::ranges::any_of(sections, [](const wire::Section& section) { return section.id == wire::SectionId::start; }))
    return fail(Kind::invalid, "the module has a start function, which would run before it can be suspended; build it with `godwit build`");
  ModuleFacts facts;
  GW_TRY(facts.info, info_of(wasm));
  GW_TRY(facts.memory, wire::read_memory(wasm));
  if (facts.memory.shared || facts.memory.is64)
    return fail(Kind::unsupported, "the module has a shared or 64-bit memory, which Godwit does not run");
  if (std::ranges::find(facts.info.globals, ValueType::v128) != facts.info.globals.end())
    return fail(Kind::unsupported, "the module has a mutable v128 global, which V8 does not let us save");
  GW_TRY(const bool active_data_only, wire::has_active_data_only(wasm));
  facts.restartable = facts.info.level != wire::Level::off && active_data_only;
  GW_TRY_VOID(check_imports(wasm));
  GW_TRY_VOID(check_exports(wasm, facts.info));
  GW_TRY_VOID(check_reserved_words(facts.info, facts.memory));
  return facts;
}

}  // namespace gw::isolate
