#include "toolchain/admission.h"

#include <algorithm>

#include "wire/wasm/wasi_imports.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::toolchain {
namespace {

using wire::ExternKind;

constexpr std::string_view kReservedPrefix = "godwit.";

std::string_view name(ExternKind kind) {
  switch (kind) {
    case ExternKind::function:
      return "function";
    case ExternKind::table:
      return "table";
    case ExternKind::memory:
      return "memory";
    case ExternKind::global:
      return "global";
    case ExternKind::tag:
      return "exception tag";
  }
  return "thing";
}

Status check_sections(ByteView wasm) {
  GW_TRY(auto sections, wire::read_sections(wasm));
  for (const wire::Section& section : sections) {
    if (section.id == wire::SectionId::custom && section.name == wire::kModuleInfoSection) {
      return fail(Kind::invalid, "the module was already built by 'godwit build': build the original");
    }
  }
  return ok();
}

Status check_types(ByteView wasm) {
  auto types = wire::read_types(wasm);
  if (types) return ok();
  if (types.error().kind != Kind::unsupported) return types.error();
  return fail(Kind::invalid, "{}: GC types are not supported", types.error().detail);
}

Status check_memory(ByteView wasm) {
  GW_TRY(auto memories, wire::read_memories(wasm));
  if (memories.empty()) return fail(Kind::invalid, "the module defines no memory of its own: its state cannot be saved");
  if (memories.size() > 1) return fail(Kind::invalid, "the module has {} memories: only one is supported", memories.size());
  if (memories[0].is64) return fail(Kind::invalid, "the module has a 64-bit memory (memory64): build it for wasm32");
  if (memories[0].shared) return fail(Kind::invalid, "the module has a shared memory (threads): build it without threads");
  return ok();
}

Status check_imports(ByteView wasm) {
  GW_TRY(auto imports, wire::read_imports(wasm));
  std::string unknown;
  for (const wire::Import& import : imports) {
    if (import.kind != ExternKind::function) {
      return fail(Kind::invalid, "the module imports a {} ({}.{}): it must define its own", name(import.kind), import.module, import.name);
    }
    if (wire::find_importable(import.module, import.name) == nullptr) unknown += fmt::format(" {}.{}", import.module, import.name);
  }
  if (unknown.empty()) return ok();
  return fail(Kind::invalid, "the module imports functions no host provides:{}; only WASI preview 1 and godwit.checkpoint are available",
              unknown);
}

Status check_exports(ByteView wasm) {
  GW_TRY(auto exports, wire::read_exports(wasm));
  const auto has = [&](std::string_view wanted, ExternKind kind) {
    return std::ranges::any_of(exports, [&](const wire::Export& e) { return e.name == wanted && e.kind == kind; });
  };
  if (!has("_start", ExternKind::function)) {
    return fail(Kind::invalid, "the module exports no function _start: build it as a program, not as a library");
  }
  if (!has("memory", ExternKind::memory)) return fail(Kind::invalid, "the module does not export its memory under the name 'memory'");
  for (const wire::Export& entry : exports) {
    if (entry.name.starts_with(kReservedPrefix))
      return fail(Kind::invalid, "the module exports '{}', a reserved name: rename it", entry.name);
  }
  return ok();
}

}  // namespace

Status check_admissible(ByteView wasm) {
  for (auto check : {check_sections, check_types, check_imports, check_memory, check_exports}) {
    Status status = check(wasm);
    if (!status) return Error{Kind::invalid, std::move(status).error().detail};
  }
  return ok();
}

}  // namespace gw::toolchain
