#pragma once

#include "base/bytes.h"

namespace gw::toolchain {

// Whether a module can be made mobile at all, judged by its outer structure: a wasm32 command module without threads, exceptions or GC
// types that imports only what hosts provide. Everything else is Kind::invalid with a sentence that says what to change.
Status check_admissible(ByteView wasm);

}  // namespace gw::toolchain
