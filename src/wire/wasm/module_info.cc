#include "wire/wasm/module_info.h"

#include <algorithm>

#include "wire/wasm/wasm_binary.h"

namespace gw::wire {
namespace {

constexpr std::uint8_t kCanonicalNans = 1;
constexpr std::uint32_t kCellBytes = 4;
constexpr std::uint32_t kUnwindAlignment = 16;

Result<ValueType> global_type(std::uint8_t byte) {
  switch (const auto type = static_cast<ValueType>(byte)) {
    case ValueType::i32:
    case ValueType::i64:
    case ValueType::f32:
    case ValueType::f64:
    case ValueType::v128:
      return type;
    default:
      return fail(Kind::corrupt, "the godwit section names a global of type {:#x}, which no image can hold", byte);
  }
}

Status check_immobile(const ModuleInfo& info) {
  const bool bare =
      info.poll == Poll::none && info.poll_cell == 0 && info.unwind_base == 0 && info.unwind_bytes == 0 && info.globals.empty();
  if (!bare) return fail(Kind::corrupt, "the godwit section describes a module of level off that has means to be suspended");
  return ok();
}

bool fits_memory(std::uint64_t base, std::uint64_t size) { return base + size <= std::uint64_t{1} << 32; }

Status check_unwind_stack(const ModuleInfo& info) {
  const bool fine = info.unwind_bytes != 0 && info.unwind_base % kUnwindAlignment == 0 && fits_memory(info.unwind_base, info.unwind_bytes);
  if (fine) return ok();
  return fail(Kind::corrupt, "the godwit section puts the unwind stack at {:#x}+{:#x}, which is not possible", info.unwind_base,
              info.unwind_bytes);
}

Status check_cell(const ModuleInfo& info) {
  const std::uint64_t unwind_end = std::uint64_t{info.unwind_base} + info.unwind_bytes;
  const std::uint64_t cell_end = std::uint64_t{info.poll_cell} + kCellBytes;
  const bool placed = info.poll_cell != 0 && info.poll_cell % kCellBytes == 0 && fits_memory(info.poll_cell, kCellBytes);
  const bool behind_memory = info.unwind_base == 0;
  const bool apart = behind_memory || cell_end <= info.unwind_base || info.poll_cell >= unwind_end;
  if (placed && apart) return ok();
  return fail(Kind::corrupt, "the godwit section puts the poll cell at {:#x} and the unwind stack at {:#x}+{:#x}, which is not possible",
              info.poll_cell, info.unwind_base, info.unwind_bytes);
}

Status check_consistent(const ModuleInfo& info) {
  if (info.level == Level::off) return check_immobile(info);
  if ((info.level == Level::fine) != (info.poll != Poll::none)) {
    return fail(Kind::corrupt, "the godwit section describes a module of level {} with poll {}", name(info.level), name(info.poll));
  }
  GW_TRY_VOID(check_unwind_stack(info));
  if (info.poll == Poll::cell) return check_cell(info);
  if (info.poll_cell != 0) return fail(Kind::corrupt, "the godwit section names a poll cell for a module that does not use one");
  return ok();
}

Status read_kinds(ByteReader& in, ModuleInfo& info) {
  GW_TRY(auto version, in.u8());
  if (version != kAbiVersion) {
    return fail(Kind::unsupported, "the module was built for ABI version {}, this program knows {}: build it again", version, kAbiVersion);
  }
  GW_TRY(auto level, in.u8());
  GW_TRY(auto poll, in.u8());
  GW_TRY(auto flags, in.u8());
  if (level > static_cast<std::uint8_t>(Level::fine)) return fail(Kind::corrupt, "the godwit section has an unknown level {}", level);
  if (poll > static_cast<std::uint8_t>(Poll::counter)) return fail(Kind::corrupt, "the godwit section has an unknown poll {}", poll);
  if ((flags & ~kCanonicalNans) != 0) return fail(Kind::corrupt, "the godwit section has unknown flags {:#x}", flags);
  info.level = static_cast<Level>(level);
  info.poll = static_cast<Poll>(poll);
  info.canonical_nans = (flags & kCanonicalNans) != 0;
  return ok();
}

}  // namespace

std::string_view name(Level level) {
  switch (level) {
    case Level::off:
      return "off";
    case Level::coarse:
      return "coarse";
    case Level::fine:
      return "fine";
  }
  return "unknown";
}

std::string_view name(Poll poll) {
  switch (poll) {
    case Poll::none:
      return "none";
    case Poll::cell:
      return "cell";
    case Poll::counter:
      return "counter";
  }
  return "unknown";
}

std::string_view name(ValueType type) {
  switch (type) {
    case ValueType::i32:
      return "i32";
    case ValueType::i64:
      return "i64";
    case ValueType::f32:
      return "f32";
    case ValueType::f64:
      return "f64";
    case ValueType::v128:
      return "v128";
    case ValueType::funcref:
      return "funcref";
    case ValueType::externref:
      return "externref";
  }
  return "unknown";
}

Bytes encode(const ModuleInfo& info) {
  GW_ASSERT(info.globals.size() <= kMaxModuleGlobals);
  ByteWriter out;
  out.u8(kAbiVersion);
  out.u8(static_cast<std::uint8_t>(info.level));
  out.u8(static_cast<std::uint8_t>(info.poll));
  out.u8(info.canonical_nans ? kCanonicalNans : 0);
  out.u32(info.features);
  out.u32(info.poll_cell);
  out.u32(info.unwind_base);
  out.u32(info.unwind_bytes);
  out.bytes(info.source_hash.bytes);
  out.u16(static_cast<std::uint16_t>(info.globals.size()));
  for (ValueType type : info.globals) out.u8(static_cast<std::uint8_t>(type));
  return out.take();
}

Result<ModuleInfo> decode_module_info(ByteView section) {
  ByteReader in(section);
  ModuleInfo info;
  GW_TRY_VOID(read_kinds(in, info));
  GW_TRY(info.features, in.u32());
  GW_TRY(info.poll_cell, in.u32());
  GW_TRY(info.unwind_base, in.u32());
  GW_TRY(info.unwind_bytes, in.u32());
  GW_TRY(auto hash, in.bytes(info.source_hash.bytes.size()));
  std::copy(hash.begin(), hash.end(), info.source_hash.bytes.begin());
  GW_TRY(auto count, in.u16());
  if (count > kMaxModuleGlobals)
    return fail(Kind::corrupt, "the godwit section lists {} globals, {} are allowed", count, kMaxModuleGlobals);
  for (unsigned i = 0; i < count; ++i) {
    GW_TRY(auto byte, in.u8());
    GW_TRY(auto type, global_type(byte));
    info.globals.push_back(type);
  }
  if (!in.at_end()) return fail(Kind::corrupt, "the godwit section has {} bytes too many", in.remaining());
  GW_TRY_VOID(check_consistent(info));
  return info;
}

Result<ModuleInfo> read_module_info(ByteView wasm) {
  GW_TRY(auto sections, read_sections(wasm));
  const Section* found = nullptr;
  for (const Section& section : sections) {
    if (section.id != SectionId::custom || section.name != kModuleInfoSection) continue;
    if (found != nullptr) return fail(Kind::corrupt, "the module has two godwit sections");
    found = &section;
  }
  if (found == nullptr) return fail(Kind::not_found, "the module has no godwit section: pass it through 'godwit build' first");
  return decode_module_info(found->payload);
}

}  // namespace gw::wire
