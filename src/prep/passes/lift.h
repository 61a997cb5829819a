#pragma once
// Makes every site a statement of its own, so that no value is left on wasm's operand stack where a frame is left.

#include "prep/analysis/sites.h"
#include "prep/ir.h"

namespace gw::prep {

// Rewrites the body into nested lists of statements in which a site stands only as `call`, `local.set (call)` or `drop (call)`, and the
// nodes around sites are only block, if and loop without a value. Expressions that contain no site are left as they are.
// The operands of a blocking call and the target of an indirect call become constants or local.gets: they are needed again after a rewind.
// The body ends with a return or never ends.
void lift_sites(FunctionDraft& draft, const SiteRules& rules, const Builder& build);

}  // namespace gw::prep
