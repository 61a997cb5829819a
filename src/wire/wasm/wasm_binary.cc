#include "wire/wasm/wasm_binary.h"

#include <algorithm>
#include <array>

namespace gw::wire {
namespace {

constexpr std::array<std::uint8_t, 4> kWasmMagic{0x00, 0x61, 0x73, 0x6d};
constexpr std::uint32_t kCoreVersion = 1;
constexpr std::uint8_t kFunctionForm = 0x60;
constexpr std::uint8_t kFunctionNames = 1;  // subsection of "name"

// Order of the known sections in a module; data_count stands before code, tag before global.
int rank(SectionId id) {
  switch (id) {
    case SectionId::data_count:
      return 2 * static_cast<int>(SectionId::element) + 1;
    case SectionId::tag:
      return 2 * static_cast<int>(SectionId::memory) + 1;
    default:
      return 2 * static_cast<int>(id);
  }
}

Result<std::string> read_name(ByteReader& in) {
  GW_TRY(auto length, in.leb_u32());
  GW_TRY(auto raw, in.bytes(length));
  return std::string(as_text(raw));
}

Result<ValueType> read_value_type(ByteReader& in) {
  GW_TRY(auto byte, in.u8());
  switch (const auto type = static_cast<ValueType>(byte)) {
    case ValueType::i32:
    case ValueType::i64:
    case ValueType::f32:
    case ValueType::f64:
    case ValueType::v128:
    case ValueType::funcref:
    case ValueType::externref:
      return type;
  }
  return fail(Kind::unsupported, "the module uses value type {:#x}, which belongs to the GC or a later proposal", byte);
}

// The count of a vector, checked against what can possibly follow, so that a lie cannot make us reserve memory.
Result<std::uint32_t> read_count(ByteReader& in, std::size_t least_bytes_each) {
  GW_TRY(auto count, in.leb_u32());
  if (count > in.remaining() / least_bytes_each) return fail(Kind::corrupt, "a list of {} entries does not fit its section", count);
  return count;
}

Result<MemoryType> read_limits(ByteReader& in) {
  constexpr std::uint8_t kHasMax = 1, kShared = 2, kIs64 = 4;
  GW_TRY(auto flags, in.u8());
  if ((flags & ~(kHasMax | kShared | kIs64)) != 0) return fail(Kind::unsupported, "a memory or table has unknown flags {:#x}", flags);
  MemoryType type;
  type.shared = (flags & kShared) != 0;
  type.is64 = (flags & kIs64) != 0;
  GW_TRY(type.min_pages, in.leb_u64());
  if ((flags & kHasMax) != 0) {
    GW_TRY(type.max_pages, in.leb_u64());
  }
  return type;
}

Result<FunctionType> read_function_type(ByteReader& in) {
  GW_TRY(auto form, in.u8());
  if (form != kFunctionForm)
    return fail(Kind::unsupported, "the module defines a type of form {:#x}, which belongs to the GC proposal", form);
  FunctionType type;
  for (auto* list : {&type.params, &type.results}) {
    GW_TRY(auto count, read_count(in, 1));
    for (std::uint32_t i = 0; i < count; ++i) {
      GW_TRY(auto value, read_value_type(in));
      list->push_back(value);
    }
  }
  return type;
}

Result<ExternKind> read_extern_kind(ByteReader& in) {
  GW_TRY(auto kind, in.u8());
  if (kind > static_cast<std::uint8_t>(ExternKind::tag)) return fail(Kind::corrupt, "an import or export has the unknown kind {}", kind);
  return static_cast<ExternKind>(kind);
}

Result<Import> read_import(ByteReader& in) {
  Import import{};
  GW_TRY(import.module, read_name(in));
  GW_TRY(import.name, read_name(in));
  GW_TRY(import.kind, read_extern_kind(in));
  switch (import.kind) {
    case ExternKind::function: {
      GW_TRY(import.type_index, in.leb_u32());
      break;
    }
    case ExternKind::table:
      GW_TRY_VOID(read_value_type(in));
      [[fallthrough]];
    case ExternKind::memory:
      GW_TRY_VOID(read_limits(in));
      break;
    case ExternKind::global:
      GW_TRY_VOID(read_value_type(in));
      GW_TRY_VOID(in.u8());
      break;
    case ExternKind::tag:
      GW_TRY_VOID(in.u8());
      GW_TRY_VOID(in.leb_u32());
      break;
  }
  return import;
}

Result<Export> read_export(ByteReader& in) {
  Export entry{};
  GW_TRY(entry.name, read_name(in));
  GW_TRY(entry.kind, read_extern_kind(in));
  GW_TRY(entry.index, in.leb_u32());
  return entry;
}

// Reads the vector that makes up section `id` with `read_entry`; an absent section is an empty vector.
template <class T>
Result<std::vector<T>> read_vector(ByteView wasm, SectionId id, std::size_t least_bytes_each, Result<T> (*read_entry)(ByteReader&)) {
  GW_TRY(auto sections, read_sections(wasm));
  std::vector<T> entries;
  for (const Section& section : sections) {
    if (section.id != id) continue;
    ByteReader in(section.payload);
    GW_TRY(auto count, read_count(in, least_bytes_each));
    for (std::uint32_t i = 0; i < count; ++i) {
      GW_TRY(T entry, read_entry(in));
      entries.push_back(std::move(entry));
    }
    if (!in.at_end()) return fail(Kind::corrupt, "section {} has {} bytes too many", static_cast<int>(id), in.remaining());
  }
  return entries;
}

Status read_function_subsection(ByteView payload, std::map<std::uint32_t, std::string>& names) {
  ByteReader in(payload);
  GW_TRY(auto count, read_count(in, 2));
  for (std::uint32_t i = 0; i < count; ++i) {
    GW_TRY(auto index, in.leb_u32());
    GW_TRY(names[index], read_name(in));
  }
  return ok();
}

Result<Section> read_section(ByteReader& in, ByteView wasm) {
  const std::size_t offset = in.position();
  GW_TRY(auto id, in.u8());
  if (id > static_cast<std::uint8_t>(SectionId::tag)) {
    return fail(Kind::unsupported, "the module has a section of unknown kind {} at offset {}", id, offset);
  }
  GW_TRY(auto size, in.leb_u32());
  auto payload = in.bytes(size);
  if (!payload)
    return fail(Kind::corrupt, "section {} at offset {} of {} bytes ends after the module ({} bytes)", id, offset, size, wasm.size());
  Section section{static_cast<SectionId>(id), *payload, {}, offset, wasm.subspan(offset, in.position() - offset)};
  if (section.id == SectionId::custom) {
    ByteReader inner(section.payload);
    GW_TRY(auto length, inner.leb_u32());
    GW_TRY(auto raw, inner.bytes(length));
    section.name = as_text(raw);
    section.payload = section.payload.subspan(inner.position());
  }
  return section;
}

}  // namespace

bool is_wasm(ByteView bytes) {
  return bytes.size() >= kWasmMagic.size() && std::equal(kWasmMagic.begin(), kWasmMagic.end(), bytes.begin());
}

Bytes make_section(SectionId id, ByteView payload) {
  ByteWriter out;
  out.u8(static_cast<std::uint8_t>(id));
  out.leb_u32(static_cast<std::uint32_t>(payload.size()));
  out.bytes(payload);
  return out.take();
}

Bytes make_custom_section(std::string_view name, ByteView content) {
  ByteWriter payload;
  payload.leb_u32(static_cast<std::uint32_t>(name.size()));
  payload.bytes(as_bytes(name));
  payload.bytes(content);
  return make_section(SectionId::custom, payload.view());
}

Result<std::vector<Section>> read_sections(ByteView wasm) {
  if (!is_wasm(wasm)) return fail(Kind::corrupt, "this is not a wasm module: it does not begin with \\0asm");
  ByteReader in(wasm.subspan(kWasmMagic.size()));
  GW_TRY(auto version, in.u32());
  if (version != kCoreVersion) {
    return fail(Kind::unsupported, "this is a wasm file of version {:#x}; core modules have version 1 (components are not supported)",
                version);
  }
  ByteReader body(wasm);
  GW_TRY_VOID(body.bytes(kWasmMagic.size() + sizeof kCoreVersion));
  std::vector<Section> sections;
  int last_rank = 0;
  while (!body.at_end()) {
    GW_TRY(Section section, read_section(body, wasm));
    if (section.id != SectionId::custom) {
      if (rank(section.id) <= last_rank) {
        return fail(Kind::corrupt, "section {} at offset {} is out of order or there twice", static_cast<int>(section.id), section.offset);
      }
      last_rank = rank(section.id);
    }
    sections.push_back(section);
  }
  return sections;
}

Result<Bytes> without_custom_section(ByteView wasm, std::string_view name) {
  GW_TRY(auto sections, read_sections(wasm));
  Bytes out;
  out.reserve(wasm.size());
  const auto append = [&](ByteView bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  append(wasm.first(kModuleHeaderBytes));
  for (const Section& section : sections) {
    if (section.id != SectionId::custom || section.name != name) append(section.whole);
  }
  return out;
}

Result<ByteView> without_last_custom_sections(ByteView wasm) {
  GW_TRY(auto sections, read_sections(wasm));
  std::size_t end = kModuleHeaderBytes;
  for (const Section& section : sections) {
    if (section.id != SectionId::custom) end = static_cast<std::size_t>(section.whole.data() + section.whole.size() - wasm.data());
  }
  return wasm.first(end);
}

Result<std::vector<FunctionType>> read_types(ByteView wasm) {
  return read_vector<FunctionType>(wasm, SectionId::type, 2, read_function_type);
}

Result<std::vector<Import>> read_imports(ByteView wasm) { return read_vector<Import>(wasm, SectionId::import, 4, read_import); }

Result<std::vector<Export>> read_exports(ByteView wasm) { return read_vector<Export>(wasm, SectionId::export_, 3, read_export); }

Result<std::vector<MemoryType>> read_memories(ByteView wasm) { return read_vector<MemoryType>(wasm, SectionId::memory, 2, read_limits); }

Result<bool> has_active_data_only(ByteView wasm) {
  constexpr std::uint8_t kConstant = 0x41, kEnd = 0x0b;
  GW_TRY(auto sections, read_sections(wasm));
  for (const Section& section : sections) {
    if (section.id != SectionId::data) continue;
    ByteReader in(section.payload);
    GW_TRY(const auto count, read_count(in, 2));
    for (std::uint32_t i = 0; i < count; i++) {
      GW_TRY(const auto flags, in.leb_u32());
      if (flags != 0) return false;
      GW_TRY(const auto opcode, in.u8());
      if (opcode != kConstant) return false;
      GW_TRY_VOID(in.leb_u64());  // signed, and not needed
      GW_TRY(const auto end, in.u8());
      if (end != kEnd) return false;
      GW_TRY(const auto length, in.leb_u32());
      GW_TRY_VOID(in.bytes(length));
    }
  }
  return true;
}

Result<MemoryType> read_memory(ByteView wasm) {
  GW_TRY(auto memories, read_memories(wasm));
  if (memories.empty()) return fail(Kind::invalid, "the module has no memory of its own");
  if (memories.size() > 1) return fail(Kind::unsupported, "the module has {} memories; one is supported", memories.size());
  return memories.front();
}

Result<std::map<std::uint32_t, std::string>> read_function_names(ByteView wasm) {
  GW_TRY(auto sections, read_sections(wasm));
  std::map<std::uint32_t, std::string> names;
  for (const Section& section : sections) {
    if (section.id != SectionId::custom || section.name != "name") continue;
    ByteReader in(section.payload);
    while (!in.at_end()) {
      GW_TRY(auto id, in.u8());
      GW_TRY(auto size, in.leb_u32());
      GW_TRY(auto payload, in.bytes(size));
      if (id == kFunctionNames) GW_TRY_VOID(read_function_subsection(payload, names));
    }
  }
  return names;
}

}  // namespace gw::wire
