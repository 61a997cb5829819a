#include "prep/analysis/code_scanner.h"

namespace gw::prep {
namespace {

namespace op {
constexpr std::uint8_t block = 0x02, loop = 0x03, if_ = 0x04, try_ = 0x06, catch_ = 0x07, throw_ = 0x08, rethrow = 0x09, br = 0x0c,
                       br_if = 0x0d, br_table = 0x0e, call = 0x10, call_indirect = 0x11, delegate = 0x18, select_typed = 0x1c,
                       local_get = 0x20, table_set = 0x26, first_memory = 0x28, last_memory = 0x3e, memory_size = 0x3f, memory_grow = 0x40,
                       i32_const = 0x41, i64_const = 0x42, f32_const = 0x43, f64_const = 0x44, first_plain = 0x45, last_plain = 0xc4,
                       ref_null = 0xd0, ref_func = 0xd2, bulk_prefix = 0xfc, simd_prefix = 0xfd;
}  // namespace op

}  // namespace

Result<CodeScanner> CodeScanner::open(ByteView body) {
  CodeScanner scanner(body);
  GW_TRY(auto groups, scanner.in_.leb_u32());
  for (std::uint32_t i = 0; i < groups; ++i) {
    GW_TRY_VOID(scanner.in_.leb_u32());
    GW_TRY_VOID(scanner.in_.u8());
  }
  return scanner;
}

Result<std::optional<Instruction>> CodeScanner::next() {
  if (in_.at_end()) return std::optional<Instruction>();
  Instruction instruction{.offset = in_.position(), .opcode = 0};
  GW_TRY(instruction.opcode, in_.u8());
  GW_TRY_VOID(skip_immediates(instruction));
  return std::optional(instruction);
}

Status CodeScanner::skip_lebs(unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    for (;;) {  // signed or not, of any width: only the end matters
      GW_TRY(auto byte, in_.u8());
      if ((byte & 0x80) == 0) break;
    }
  }
  return ok();
}

Status CodeScanner::skip_immediates(Instruction& instruction) {
  const std::uint8_t code = instruction.opcode;
  switch (code) {
    case op::br:
    case op::br_if:
    case op::call: {
      GW_TRY(instruction.immediate, in_.leb_u32());
      return ok();
    }
    case op::block:
    case op::loop:
    case op::if_:
    case op::try_:
    case op::catch_:
    case op::throw_:
    case op::rethrow:
    case op::delegate:
    case op::memory_size:
    case op::memory_grow:
    case op::i64_const:
    case op::ref_null:
    case op::ref_func:
      return skip_lebs(1);
    case op::i32_const: {
      const std::size_t start = in_.position();
      GW_TRY_VOID(skip_lebs(1));
      std::uint32_t value = 0;
      unsigned shift = 0;
      for (std::size_t i = start; i < in_.position(); ++i, shift += 7) value |= static_cast<std::uint32_t>(body_[i] & 0x7f) << shift;
      if (shift < 32 && (body_[in_.position() - 1] & 0x40) != 0) value |= ~std::uint32_t{0} << shift;
      instruction.immediate = value;
      return ok();
    }
    case op::br_table: {
      GW_TRY(auto count, in_.leb_u32());
      return skip_lebs(count + 1);
    }
    case op::call_indirect:
      return skip_lebs(2);
    case op::select_typed: {
      GW_TRY(auto count, in_.leb_u32());
      return skip_lebs(count);
    }
    case op::f32_const:
      return in_.bytes(4) ? ok() : Status(fail(Kind::corrupt, "a function body ends inside a constant"));
    case op::f64_const:
      return in_.bytes(8) ? ok() : Status(fail(Kind::corrupt, "a function body ends inside a constant"));
    case op::bulk_prefix:
      return skip_bulk_immediates();
    case op::simd_prefix:
      return skip_simd_immediates();
    default:
      break;
  }
  if (code >= op::local_get && code <= op::table_set) {
    GW_TRY(instruction.immediate, in_.leb_u32());
    return ok();
  }
  if (code >= op::first_memory && code <= op::last_memory) return skip_lebs(2);
  const bool plain = code <= 0x01 || code == 0x05 || code == 0x0b || code == 0x0f || code == 0x19 || code == 0x1a || code == 0x1b ||
                     (code >= op::first_plain && code <= op::last_plain);
  return plain ? ok() : Status(fail(Kind::unsupported, "a function body contains the unknown instruction {:#x}", code));
}

Status CodeScanner::skip_bulk_immediates() {
  GW_TRY(auto code, in_.leb_u32());
  if (code <= 7) return ok();                        // saturating conversions
  if (code == 8 || code == 10) return skip_lebs(2);  // memory.init, memory.copy
  if (code == 9 || code == 11) return skip_lebs(1);  // data.drop, memory.fill
  return fail(Kind::unsupported, "a function body contains the unknown instruction 0xfc {:#x}", code);
}

Status CodeScanner::skip_simd_immediates() {
  constexpr std::size_t kVectorBytes = 16;
  GW_TRY(auto code, in_.leb_u32());
  if (code <= 11 || code == 92 || code == 93) return skip_lebs(2);  // loads and stores
  if (code == 12 || code == 13) {                                   // v128.const, i8x16.shuffle
    GW_TRY_VOID(in_.bytes(kVectorBytes));
    return ok();
  }
  if (code >= 21 && code <= 34) return skip_lebs(1);  // a lane
  if (code >= 84 && code <= 91) return skip_lebs(3);  // an address and a lane
  return ok();
}

}  // namespace gw::prep
