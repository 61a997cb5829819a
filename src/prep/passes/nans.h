#pragma once
// NaN bits differ between machines and compilers; builds that are verified by comparison make them canonical where they can be observed.

#include "prep/ir.h"

namespace gw::prep {

// Observation points: floats that are stored, reinterpreted, put into a vector, given to copysign as the sign, put into a global or handed
// to an import, and all results of vector float arithmetic (the lanes of a vector can be observed in too many ways to follow). Returns the
// number of places changed.
unsigned make_nans_canonical(BinaryenModuleRef module);

// value == value ? value : NaN. `same` is a local that holds the value once it has been evaluated.
Expr canonical_float(const Builder& build, Expr value, Local same);

}  // namespace gw::prep
