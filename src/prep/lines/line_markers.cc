#include "prep/lines/line_markers.h"

#include <algorithm>
#include <map>

#include "prep/analysis/code_scanner.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::prep {
namespace {

namespace op {
constexpr std::uint8_t unreachable = 0x00, block = 0x02, loop = 0x03, if_ = 0x04, else_ = 0x05, try_ = 0x06, catch_ = 0x07, throw_ = 0x08,
                       rethrow = 0x09, end = 0x0b, call = 0x10, call_indirect = 0x11, delegate = 0x18, catch_all = 0x19, drop = 0x1a,
                       global_set = 0x24, first_memory = 0x28, memory_grow = 0x40, i32_const = 0x41, i32_div_s = 0x6d, i32_rem_u = 0x70,
                       i64_div_s = 0x7f, i64_rem_u = 0x82, first_trunc = 0xa8, last_trunc = 0xb1, bulk_prefix = 0xfc, simd_prefix = 0xfd;
}  // namespace op

constexpr std::uint8_t kMutableI32[] = {0x7f, 0x01, op::i32_const, 0x00, op::end};

void signed_leb(ByteWriter& out, std::int32_t value) {
  for (;;) {
    const auto low = static_cast<std::uint8_t>(value & 0x7f);
    value >>= 7;
    const bool last = (value == 0 && (low & 0x40) == 0) || (value == -1 && (low & 0x40) != 0);
    out.u8(last ? low : low | 0x80);
    if (last) return;
  }
}

// Instructions that can appear in a backtrace: they call, may trap, or are where an engine interrupts a guest.
bool is_visible(std::uint8_t opcode) {
  return opcode == op::unreachable || opcode == op::loop || opcode == op::throw_ || opcode == op::rethrow || opcode == op::call ||
         opcode == op::call_indirect || (opcode >= op::first_memory && opcode <= op::memory_grow) ||
         (opcode >= op::i32_div_s && opcode <= op::i32_rem_u) || (opcode >= op::i64_div_s && opcode <= op::i64_rem_u) ||
         (opcode >= op::first_trunc && opcode <= op::last_trunc) || opcode == op::bulk_prefix || opcode == op::simd_prefix;
}

// Behind these a piece of code begins that passes may move as a whole.
bool begins_piece(std::uint8_t opcode) {
  return opcode == op::block || opcode == op::loop || opcode == op::if_ || opcode == op::else_ || opcode == op::try_ ||
         opcode == op::catch_ || opcode == op::catch_all || opcode == op::delegate || opcode == op::end;
}

bool is_catch(std::uint8_t opcode) { return opcode == op::catch_ || opcode == op::catch_all; }

Result<std::vector<Instruction>> instructions_of(ByteView body) {
  GW_TRY(auto scanner, CodeScanner::open(body));
  std::vector<Instruction> list;
  for (;;) {
    GW_TRY(auto instruction, scanner.next());
    if (!instruction) return list;
    list.push_back(*instruction);
  }
}

// Calls `f(body, offset)` for each function body with its offset from the start of the code section's content.
template <class F>
Status for_each_body(ByteView code, F&& f) {
  ByteReader in(code);
  GW_TRY(auto count, in.leb_u32());
  for (std::uint32_t i = 0; i < count; ++i) {
    GW_TRY(auto size, in.leb_u32());
    const auto offset = static_cast<std::uint32_t>(in.position());
    GW_TRY(auto body, in.bytes(size));
    GW_TRY_VOID(f(body, offset));
  }
  return ok();
}

class Marking {
 public:
  Marking(const DwarfLines& lines, std::uint32_t global) : lines_(lines), global_(global), positions_{SourcePosition{}} {
    values_.emplace(SourcePosition{}, 0);
  }

  Result<Bytes> code_section(ByteView code) {
    ByteReader in(code);
    GW_TRY(auto count, in.leb_u32());
    ByteWriter payload;
    payload.leb_u32(count);
    GW_TRY_VOID(for_each_body(code, [&](ByteView body, std::uint32_t offset) -> Status {
      GW_TRY(Bytes marked, mark(body, offset));
      payload.leb_u32(static_cast<std::uint32_t>(marked.size()));
      payload.bytes(marked);
      return ok();
    }));
    return wire::make_section(wire::SectionId::code, payload.view());
  }

  std::vector<SourcePosition> take_positions() { return std::move(positions_); }

 private:
  Result<Bytes> mark(ByteView body, std::uint32_t offset) {
    GW_TRY(auto instructions, instructions_of(body));
    const auto position_of = [&](const Instruction& one) { return lines_.at(offset + static_cast<std::uint32_t>(one.offset)); };
    const bool any = std::ranges::any_of(instructions, [&](const Instruction& one) { return position_of(one) != SourcePosition{}; });
    if (!any) return Bytes(body.begin(), body.end());
    ByteWriter out;
    std::size_t written = 0;
    // The marker that the next visible instruction needs stands where its line or piece began: mostly where wasm's operand stack is empty.
    std::optional<WantedMarker> wanted;
    std::optional<SourcePosition> current;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      const Instruction& one = instructions[i];
      const SourcePosition position = position_of(one);
      const bool new_piece = i == 0 || begins_piece(instructions[i - 1].opcode);
      // The exception that a handler has caught lies on the operand stack: the instruction that takes it stays the first.
      const bool held_back = i > 0 && is_catch(instructions[i - 1].opcode);
      if (new_piece) {
        current.reset();
        wanted.reset();
      }
      if (current != position && !held_back) {
        wanted = WantedMarker{one.offset, position};
        current = position;
      }
      if (!wanted || !is_visible(one.opcode)) continue;
      out.bytes(body.subspan(written, wanted->offset - written));
      written = wanted->offset;
      write_marker(out, wanted->position);
      wanted.reset();
    }
    out.bytes(body.subspan(written));
    return out.take();
  }

  void write_marker(ByteWriter& out, const SourcePosition& position) {
    const auto [known, is_new] = values_.emplace(position, static_cast<std::int32_t>(positions_.size()));
    if (is_new) positions_.push_back(position);
    out.u8(op::i32_const);
    signed_leb(out, known->second);
    out.u8(op::global_set);
    out.leb_u32(global_);
  }

  struct WantedMarker {
    std::size_t offset;
    SourcePosition position;
  };
  const DwarfLines& lines_;
  std::uint32_t global_;
  std::map<SourcePosition, std::int32_t> values_;
  std::vector<SourcePosition> positions_;
};

struct Globals {
  std::uint32_t imported = 0, defined = 0;
};

Result<Globals> count_globals(ByteView wasm, const std::vector<wire::Section>& sections) {
  Globals globals;
  GW_TRY(auto imports, wire::read_imports(wasm));
  for (const wire::Import& import : imports) globals.imported += import.kind == wire::ExternKind::global ? 1 : 0;
  for (const wire::Section& section : sections) {
    if (section.id != wire::SectionId::global) continue;
    ByteReader in(section.payload);
    GW_TRY(globals.defined, in.leb_u32());
  }
  return globals;
}

Result<Bytes> with_marker_global(ByteView global_section, std::uint32_t defined) {
  ByteWriter payload;
  payload.leb_u32(defined + 1);
  if (!global_section.empty()) {
    ByteReader in(global_section);
    GW_TRY_VOID(in.leb_u32());
    payload.bytes(global_section.subspan(in.position()));
  }
  payload.bytes(kMutableI32);
  return wire::make_section(wire::SectionId::global, payload.view());
}

// Sections that stand behind the globals of a module.
bool is_behind_globals(wire::SectionId id) {
  return id != wire::SectionId::custom && id != wire::SectionId::tag && id > wire::SectionId::global;
}

// Takes the markers out of bodies and notes what they say.
class Unmarking {
 public:
  Unmarking(std::uint32_t global, const MarkedModule& marked) : global_(global), marked_(marked) {}

  Result<Bytes> code_section(ByteView code) {
    ByteReader in(code);
    GW_TRY(auto count, in.leb_u32());
    payload_.leb_u32(count);
    GW_TRY_VOID(for_each_body(code, [&](ByteView body, std::uint32_t) { return unmark(body); }));
    return wire::make_section(wire::SectionId::code, payload_.view());
  }

  // Files that no row names are left out.
  wire::LineTable take_lines() {
    std::vector<std::string> used;
    std::map<std::uint32_t, std::uint32_t> indices;
    for (wire::LineTable::Row& row : lines_.rows) {
      const auto [known, is_new] = indices.emplace(row.file, static_cast<std::uint32_t>(used.size()));
      if (is_new) used.push_back(marked_.files[row.file]);
      row.file = known->second;
    }
    lines_.files = std::move(used);
    return std::move(lines_);
  }

 private:
  Status unmark(ByteView body) {
    GW_TRY(auto instructions, instructions_of(body));
    ByteWriter out;
    // By offset in the new body. Its start, where an engine finds that the stack is full, is of the first line.
    std::vector<std::pair<std::size_t, SourcePosition>> rows{{0, {}}};
    std::size_t written = 0;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      const Instruction& one = instructions[i];
      if (one.opcode != op::global_set || one.immediate != global_) continue;
      const std::size_t behind = i + 1 < instructions.size() ? instructions[i + 1].offset : body.size();
      const bool whole = i > 0 && instructions[i - 1].opcode == op::i32_const && instructions[i - 1].offset >= written;
      const std::uint64_t value = whole ? instructions[i - 1].immediate : 0;
      if (value >= marked_.positions.size()) return fail(Kind::internal, "a line marker has the value {}", value);
      const std::size_t start = whole ? instructions[i - 1].offset : one.offset;
      out.bytes(body.subspan(written, start - written));
      if (!whole) out.u8(op::drop);  // a pass has made one of two markers: the line is not known
      written = behind;
      rows.emplace_back(out.size(), marked_.positions[value]);
      if (rows.size() == 2) rows[0].second = rows[1].second;
    }
    out.bytes(body.subspan(written));
    payload_.leb_u32(static_cast<std::uint32_t>(out.size()));
    for (const auto& [offset, position] : rows) add_row(payload_.size() + offset, position);
    payload_.bytes(out.view());
    return ok();
  }

  void add_row(std::size_t offset, const SourcePosition& position) {
    auto& rows = lines_.rows;
    const wire::LineTable::Row row{static_cast<std::uint32_t>(offset), position.file, position.line};
    if (!rows.empty() && rows.back().offset == row.offset) rows.pop_back();
    const bool same = rows.empty() ? row.line == 0 : rows.back().file == row.file && rows.back().line == row.line;
    if (!same) rows.push_back(row);
  }

  std::uint32_t global_;
  const MarkedModule& marked_;
  ByteWriter payload_;
  wire::LineTable lines_;
};

}  // namespace

Result<std::optional<MarkedModule>> mark_lines(ByteView wasm) {
  GW_TRY(auto lines, DwarfLines::read(wasm));
  if (!lines) return std::optional<MarkedModule>();
  GW_TRY(auto sections, wire::read_sections(wasm));
  GW_TRY(auto globals, count_globals(wasm, sections));
  Marking marking(*lines, globals.imported + globals.defined);
  ByteWriter out;
  out.bytes(wasm.first(wire::kModuleHeaderBytes));
  bool has_global = false;
  for (const wire::Section& section : sections) {
    if (!has_global && (section.id == wire::SectionId::global || is_behind_globals(section.id))) {
      GW_TRY(auto section_with_marker,
             with_marker_global(section.id == wire::SectionId::global ? section.payload : ByteView(), globals.defined));
      out.bytes(section_with_marker);
      has_global = true;
    }
    if (section.id == wire::SectionId::code) {
      GW_TRY(auto code, marking.code_section(section.payload));
      out.bytes(code);
    } else if (section.id != wire::SectionId::global) {
      out.bytes(section.whole);
    }
  }
  return std::optional(MarkedModule{out.take(), globals.imported + globals.defined, lines->files(), marking.take_positions()});
}

Result<UnmarkedModule> take_markers(ByteView wasm, std::uint32_t marker, const MarkedModule& marked) {
  Unmarking unmarking(marker, marked);
  GW_TRY(auto sections, wire::read_sections(wasm));
  ByteWriter out;
  out.bytes(wasm.first(wire::kModuleHeaderBytes));
  for (const wire::Section& section : sections) {
    if (section.id != wire::SectionId::code) {
      out.bytes(section.whole);
      continue;
    }
    GW_TRY(auto code, unmarking.code_section(section.payload));
    out.bytes(code);
  }
  return UnmarkedModule{out.take(), unmarking.take_lines()};
}

}  // namespace gw::prep
