#pragma once
// Where a call that may suspend may also throw, one check of kUnwinding serves both.

#include "prep/analysis/liveness.h"
#include "prep/analysis/sites.h"

namespace gw::prep {

// Tells the sites of a lifted body whether their call may throw. A site that is directly followed by its exception check takes over the
// landing of the check, which becomes a nop. Comes after plan_saves: what is live at the landing must have been counted.
void merge_exception_checks(const Builder& build, const SiteRules& rules, Expr body, SavePlan& plan);

}  // namespace gw::prep
