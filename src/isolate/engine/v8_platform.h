#pragma once
// V8 in this process. Only v8_*.cc may include this.

#include <v8.h>

static_assert(V8_MAJOR_VERSION == 10 && V8_MINOR_VERSION == 2, "the adapter is written and measured against V8 10.2 (libnode 18)");

namespace gw::isolate {

// REQUIRES: start_wasm_engine() has succeeded.
v8::Platform& v8_platform();

}  // namespace gw::isolate
