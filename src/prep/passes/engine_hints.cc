#include "prep/passes/engine_hints.h"

#include <array>
#include <string_view>
#include <vector>

#include "prep/analysis/code_scanner.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::prep {
namespace {

constexpr std::uint8_t kIf = 0x04, kBrIf = 0x0d, kGlobalGet = 0x23, kI32Load = 0x28, kI32Const = 0x41, kI32LtS = 0x48;
constexpr std::string_view kBranchHints = "metadata.code.branch_hint";
constexpr std::string_view kCompilationHints = "compilationHints";
constexpr std::uint8_t kCompileEagerly = 0, kCompileLazily = 1;

struct RareConditions {
  std::optional<std::uint32_t> unwinding, counter;  // global indices
  std::optional<std::uint32_t> poll_cell;
};

// Does a br_if or if after `previous` (most recent last) test one of our conditions?
bool is_rare(const std::array<Instruction, 3>& previous, const RareConditions& rare) {
  const Instruction& last = previous[2];
  if (last.opcode == kGlobalGet) return rare.unwinding == last.immediate;
  if (last.opcode == kI32Load) return previous[1].opcode == kI32Const && rare.poll_cell == previous[1].immediate;
  if (last.opcode == kI32LtS) return previous[0].opcode == kGlobalGet && rare.counter == previous[0].immediate;
  return false;
}

Result<std::vector<std::size_t>> rare_branches(ByteView body, const RareConditions& rare) {
  std::vector<std::size_t> offsets;
  GW_TRY(auto scanner, CodeScanner::open(body));
  std::array<Instruction, 3> previous{};
  for (;;) {
    GW_TRY(auto instruction, scanner.next());
    if (!instruction) return offsets;
    if ((instruction->opcode == kBrIf || instruction->opcode == kIf) && is_rare(previous, rare)) offsets.push_back(instruction->offset);
    previous = {previous[1], previous[2], *instruction};
  }
}

Result<Bytes> make_branch_hints(ByteView code, std::uint32_t imported_functions, const RareConditions& rare) {
  ByteReader in(code);
  ByteWriter hints;
  std::uint32_t hinted = 0;
  GW_TRY(auto count, in.leb_u32());
  for (std::uint32_t i = 0; i < count; ++i) {
    GW_TRY(auto size, in.leb_u32());
    GW_TRY(auto body, in.bytes(size));
    GW_TRY(auto offsets, rare_branches(body, rare));
    if (offsets.empty()) continue;
    ++hinted;
    hints.leb_u32(imported_functions + i);
    hints.leb_u32(static_cast<std::uint32_t>(offsets.size()));
    for (std::size_t offset : offsets) {
      hints.leb_u32(static_cast<std::uint32_t>(offset));
      hints.leb_u32(1);  // size of what follows
      hints.u8(0);       // unlikely
    }
  }
  ByteWriter payload;
  payload.leb_u32(hinted);
  payload.bytes(hints.view());
  return wire::make_custom_section(kBranchHints, payload.view());
}

Bytes make_compilation_hints(const std::vector<bool>& rarely_called) {
  ByteWriter payload;
  payload.leb_u32(static_cast<std::uint32_t>(rarely_called.size()));
  for (bool rare : rarely_called) payload.u8(rare ? kCompileLazily : kCompileEagerly);
  return wire::make_custom_section(kCompilationHints, payload.view());
}

Result<RareConditions> find_conditions(ByteView wasm, std::optional<std::uint32_t> poll_cell) {
  RareConditions rare{.poll_cell = poll_cell};
  GW_TRY(auto exports, wire::read_exports(wasm));
  for (const wire::Export& symbol : exports) {
    if (symbol.kind != wire::ExternKind::global) continue;
    if (symbol.name == "godwit.unwinding") rare.unwinding = symbol.index;
    if (symbol.name == "godwit.counter") rare.counter = symbol.index;
  }
  return rare;
}

}  // namespace

Result<Bytes> add_engine_hints(ByteView wasm, const EngineHints& hints) {
  GW_TRY(auto rare, find_conditions(wasm, hints.poll_cell));
  GW_TRY(auto imports, wire::read_imports(wasm));
  std::uint32_t imported_functions = 0;
  for (const wire::Import& import : imports) imported_functions += import.kind == wire::ExternKind::function ? 1 : 0;
  GW_TRY(auto sections, wire::read_sections(wasm));
  ByteWriter out;
  out.bytes(wasm.first(wire::kModuleHeaderBytes));
  for (const wire::Section& section : sections) {
    if (section.id == wire::SectionId::code) {
      GW_TRY(auto branch_hints, make_branch_hints(section.payload, imported_functions, rare));
      out.bytes(make_compilation_hints(hints.rarely_called));
      out.bytes(branch_hints);
    }
    out.bytes(section.whole);
  }
  return out.take();
}

}  // namespace gw::prep
