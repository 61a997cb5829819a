#pragma once
// Gives a function that may suspend its two bodies (docs/design/000-mobile-isolates.md, "Mobility by two bodies").
//
// The problem. A frame must be able to stop at any of its sites and later continue from there, on another machine. Wasm has no way to jump
// into the middle of a function, so the code that resumes must re-create the control flow that leads to the site; and that code must cost
// nothing while the program simply runs.
//
// Ways that were rejected. One body with "am I rewinding?" tests around every statement (stock Asyncify): the tests stand in hot loops, and
// every local stays alive through all of them because one shared block saves them: 1.8 times the run time. Wasm exceptions for unwinding:
// two to three times the latency for 5 % on one kernel.
//
// The way taken. The fast body can stop but cannot be entered in the middle: each site is followed by a test of one global and a jump to an
// exit outside all loops, where the live locals are pushed. The rewind body is entered only while frames are restored: it pops the locals
// and the number of the site, runs only the control flow that leads to the site, and then does what the fast body does until it returns.
// The caller's next call of this function takes the fast body again.
//
// Invariants.
// 1. Both bodies visit the sites in the order of the text, so number n means the same site in both (SiteCursor).
// 2. Both push the same values in the same order for a site: the frame layout is that of its save set (prep/analysis/liveness.h).
// 3. A site stands only where prep/passes/lift.h has put it, as a statement of its own: the operand stack is empty there.
// 4. A frame of the rewind body that stops again leaves the same bytes that the fast body would have left.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "prep/analysis/liveness.h"
#include "prep/analysis/sites.h"
#include "prep/ir.h"
#include "prep/mobility/unwind_stack.h"

namespace gw::prep {

// The context shared by the bodies of all functions of a module.
struct MobilityContext {
  const Builder& build;
  const SiteRules& rules;
  UnwindStack& stack;
  std::function<Expr()> poll_condition;  // a fresh i32 expression: non-zero asks to suspend
  std::uint32_t table_half = 0;          // entry i + table_half of the function table is the rewind body of entry i
  std::string line_marker;               // the global of lines/line_markers.h; empty: there are no markers
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
