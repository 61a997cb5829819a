#pragma once
// Replaces wasm's exception instructions by plain code, so that no later pass, no engine and no image meets them
// (docs/design/010-exceptions.md).

#include "base/result.h"
#include "prep/ir.h"

namespace gw::prep {

// The label at the end of a function through which exceptions leave it. A function that has none throws nothing.
inline constexpr const char* kThrowLabel = "gw$throw";
// Globals in which an exception carries its value. They are dead wherever a program can be suspended, so they are not part of its state.
inline constexpr const char* kPayloadPrefix = "gw$thrown";

// The check behind a call that may throw: `br_if landing (global.get kUnwinding)`.
bool is_exception_check(Expr e);

struct ExceptionReport {
  unsigned throwing = 0;  // functions that exceptions may leave
  unsigned tries = 0;
  unsigned idle_tries = 0;  // nothing inside can throw: the body alone is left
  unsigned calls = 0;
  unsigned checks = 0;  // calls that may throw
};

// A throw stores its value in a global, its tag's number in the global kUnwinding, and branches to its *landing*: a label behind the
// enclosing try, or kThrowLabel. A call of a function that may throw is followed by a check of kUnwinding. While code runs otherwise,
// kUnwinding is 0, so at every site too. REQUIRES: a valid module. Leaves modules without exceptions as they are.
Result<ExceptionReport> lower_exceptions(BinaryenModuleRef module);

}  // namespace gw::prep
