#pragma once
// Which locals a frame must keep at each of its sites.

#include <optional>
#include <vector>

#include "prep/analysis/sites.h"
#include "prep/ir.h"

namespace gw::prep {

// A place where frames of the function can be left.
struct Site {
  Expr statement;  // `call`, `local.set (call)` or `drop (call)`
  Expr call;
  SiteKind kind;
  unsigned number;                // from 1, in the order of the text: the sites below any node have consecutive numbers
  unsigned save_set;              // index into SavePlan::sets
  std::optional<Local> result;    // the local that takes the result of the call
  bool may_throw = false;         // the call may throw; this and `landing` are set by exception_landings.h
  const char* landing = nullptr;  // the label to go to if the call has thrown
};

struct SavePlan {
  std::vector<Site> sites;
  std::vector<std::vector<Local>> sets;  // ascending
};

// Analyses a lifted body.
//
// The sites inside one loop (or outside all) share one set, the union of what is live at each: saved and restored by one piece of code.
// Where there are no calls among them, as in the tight loops that matter, each keeps exactly what is live there. A local that is saved
// counts as used, so what is saved is always well defined and does not depend on whether the frame was ever restored.
SavePlan plan_saves(const FunctionDraft& draft, const SiteRules& rules);

}  // namespace gw::prep
