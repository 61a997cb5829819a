#pragma once
// A bounded reader for the outer structure of wasm modules: enough to check, describe and patch around them, not to run them.
// Fails with Kind::corrupt on anything malformed; offsets in messages count from the start of the module or section.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "wire/wasm/module_info.h"

namespace gw::wire {

enum class SectionId : std::uint8_t {
  custom = 0,
  type = 1,
  import = 2,
  function = 3,
  table = 4,
  memory = 5,
  global = 6,
  export_ = 7,
  start = 8,
  element = 9,
  code = 10,
  data = 11,
  data_count = 12,
  tag = 13,
};

// Views into the module it was read from.
struct Section {
  SectionId id;
  ByteView payload;       // of a custom section: what follows its name
  std::string_view name;  // custom sections only
  std::size_t offset;     // of the section's id byte in the module
  ByteView whole;         // id and size included
};

bool is_wasm(ByteView bytes);  // starts with the magic number

Result<std::vector<Section>> read_sections(ByteView wasm);

inline constexpr std::size_t kModuleHeaderBytes = 8;  // magic number and version: the first section stands behind them

// A section with id and size, ready to be put into a module.
Bytes make_section(SectionId id, ByteView payload);
Bytes make_custom_section(std::string_view name, ByteView content);

enum class ExternKind : std::uint8_t { function = 0, table = 1, memory = 2, global = 3, tag = 4 };

struct FunctionType {
  std::vector<ValueType> params, results;
  bool operator==(const FunctionType&) const = default;
};

struct Import {
  std::string module, name;
  ExternKind kind;
  std::uint32_t type_index;  // functions only, else 0
};

struct Export {
  std::string name;
  ExternKind kind;
  std::uint32_t index;
};

struct MemoryType {
  std::uint64_t min_pages = 0;
  std::optional<std::uint64_t> max_pages;
  bool shared = false;
  bool is64 = false;
};

// Function types only; a type of the GC proposal is Kind::unsupported.
Result<std::vector<FunctionType>> read_types(ByteView wasm);
Result<std::vector<Import>> read_imports(ByteView wasm);
Result<std::vector<Export>> read_exports(ByteView wasm);

// The memories the module defines itself; imported ones are among the imports.
Result<std::vector<MemoryType>> read_memories(ByteView wasm);
// The only memory. Kind::unsupported if it has several, Kind::invalid if it has none.
Result<MemoryType> read_memory(ByteView wasm);

// Whether every data segment is copied into the memory when the module is instantiated, to a constant address: then no instruction can
// use one up. False for an address that is computed, too.
Result<bool> has_active_data_only(ByteView wasm);

// The module without the custom sections of that name.
Result<Bytes> without_custom_section(ByteView wasm, std::string_view name);
// The module up to its last section that is not custom: what is behind, the names of functions above all, no engine needs.
Result<ByteView> without_last_custom_sections(ByteView wasm);

// Function index -> name, from the custom section "name"; empty if there is none. Names are for people: any bytes, maybe damaged.
Result<std::map<std::uint32_t, std::string>> read_function_names(ByteView wasm);

}  // namespace gw::wire
