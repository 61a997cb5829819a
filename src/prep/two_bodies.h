#pragma once
// Gives a function that may suspend its two bodies (docs/design/000-mobile-isolates.md, "Mobility by two bodies").

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "prep/ir.h"
#include "prep/liveness.h"
#include "prep/sites.h"
#include "prep/unwind_stack.h"

namespace gw::prep {

// What the bodies of all functions of a module have in common.
struct MobilityContext {
  const Builder& build;
  const SiteRules& rules;
  UnwindStack& stack;
  std::function<Expr()> poll_condition;  // a fresh i32 expression: non-zero asks to suspend
  std::uint32_t table_half = 0;          // entry i + table_half of the function table is the rewind body of entry i
};

inline constexpr std::string_view kRewindSuffix = "$rewind";
inline std::string rewind_name(const std::string& function) { return function + std::string(kRewindSuffix); }
inline bool is_rewind_name(std::string_view function) { return function.ends_with(kRewindSuffix); }

struct TwoBodies {
  FunctionDraft fast;    // keeps the name
  FunctionDraft rewind;  // rewind_name(), no parameters
  unsigned sites;
};

// REQUIRES: the draft has been lifted.
TwoBodies make_two_bodies(FunctionDraft draft, const MobilityContext& context);

}  // namespace gw::prep
