#pragma once
// The plan of a random program, before any code is written: signatures, functions, the table, globals, the layout of memory.

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"
#include "prep/ir.h"

namespace gw::transform {

using prep::Builder;
using prep::Expr;
using prep::Local;
using prep::Type;

// foreign: as another toolchain would link it. reserved: exports the addresses of a poll cell and an unwind stack, as our runtime does.
enum class Layout : std::uint8_t { foreign, reserved };

// The memory of every program. Random addresses stay in the scratch area.
namespace memory_map {
inline constexpr std::int32_t kInputVector = 48, kInputCount = 56, kInput = 128, kInputBytes = 8;
inline constexpr std::int32_t kPollCell = 512;
inline constexpr std::int32_t kScratch = 1024, kScratchMask = 0xfff, kSlack = 64;  // an access may start anywhere in the mask's range
inline constexpr std::int32_t kUnwindStack = 65536, kUnwindPages = 128;
inline constexpr unsigned kMaxGrowth = 6;  // pages a program may ask for
}  // namespace memory_map

struct Signature {
  std::vector<Type> params;
  Type result;
};

struct FunctionPlan {
  std::string name;
  unsigned signature;
};

struct GlobalPlan {
  std::string name;
  Type type;
};

// Table entries [first, first + count) hold the functions of one signature.
struct TableGroup {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct ProgramPlan {
  Layout layout = Layout::foreign;
  std::vector<Signature> signatures;
  std::vector<FunctionPlan> functions;
  std::vector<GlobalPlan> globals;         // mutable, besides those of the prelude
  std::vector<TableGroup> groups;          // by signature
  std::vector<std::string> table_entries;  // functions, in table order
  std::uint32_t table_size = 0;            // some entries at the end stay empty

  const Signature& signature_of(const FunctionPlan& function) const { return signatures[function.signature]; }
};

ProgramPlan plan_program(Rng& rng);

// i32, i64, f32, f64, v128; integers more often.
Type random_type(Rng& rng);
bool one_in(Rng& rng, unsigned n);

}  // namespace gw::transform
