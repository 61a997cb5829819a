#pragma once
// The custom section "godwit": what the pre-processor tells the engine about a mobile module (docs/design/000-mobile-isolates.md).

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"

namespace gw::wire {

inline constexpr std::string_view kModuleInfoSection = "godwit";
inline constexpr std::uint8_t kAbiVersion = 2;
inline constexpr std::size_t kMaxModuleGlobals = 4096;

// How often the module can be suspended.
enum class Level : std::uint8_t { off = 0, coarse = 1, fine = 2 };

// How it is asked to: by a word of its memory, or by a counter that runs out.
enum class Poll : std::uint8_t { none = 0, cell = 1, counter = 2 };

// Numbers as in the binary format of wasm.
enum class ValueType : std::uint8_t { i32 = 0x7f, i64 = 0x7e, f32 = 0x7d, f64 = 0x7c, v128 = 0x7b, funcref = 0x70, externref = 0x6f };

std::string_view name(Level level);
std::string_view name(Poll poll);
std::string_view name(ValueType type);

// A module that says nothing has an immobile one: level off. A decoded one is consistent:
//  - level off: poll none, no cell, no unwind stack, no globals
//  - level coarse: poll none, as it stops only in host calls; level fine: poll cell or counter
//  - poll cell: cell and unwind stack not at 0, inside a wasm32 memory, aligned to 4 and 16, apart from each other
//  - other polls: no cell; the unwind stack is reserved as with cells, or its base is 0 and it lies behind the memory and moves with it
//  - globals hold numbers or v128, not references
struct ModuleInfo {
  Level level = Level::off;
  Poll poll = Poll::none;
  bool canonical_nans = false;
  std::uint32_t features = 0;
  std::uint32_t poll_cell = 0;
  std::uint32_t unwind_base = 0;
  std::uint32_t unwind_bytes = 0;
  Hash256 source_hash;
  std::vector<ValueType> globals;

  bool operator==(const ModuleInfo&) const = default;
};

// The payload of the section, without its name.
Bytes encode(const ModuleInfo& info);
Result<ModuleInfo> decode_module_info(ByteView section);

// Finds and decodes the section of a module. Kind::not_found: the module has none, so the pre-processor has not seen it.
Result<ModuleInfo> read_module_info(ByteView wasm);

}  // namespace gw::wire
