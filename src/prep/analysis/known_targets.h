#pragma once
// Virtual functions and callbacks: calls through pointers that can go to a few functions only.

#include "prep/ir.h"
#include "prep/passes/inline.h"

namespace gw::prep {

// Replaces each indirect call whose signature few entries of the table have, all of them short functions, by direct calls, chosen by the
// pointer. A pointer to anything else traps as before. The engine then needs no look-up and no check of the signature, and a target that
// cannot be suspended costs no check afterwards. Returns how many calls were replaced.
unsigned make_few_targets_direct(BinaryenModuleRef module, GrowthBudget& budget);

}  // namespace gw::prep
