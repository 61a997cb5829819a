#include <fmt/core.h>
#include <v8-version.h>

#include "isolate/engine/engine_version.h"

namespace gw::isolate {

// From the header's macros and not v8::V8::GetVersion(): a call would make every program that asks load the engine's library.
std::string engine_version() { return fmt::format("V8 {}.{}.{}.{}", V8_MAJOR_VERSION, V8_MINOR_VERSION, V8_BUILD_NUMBER, V8_PATCH_LEVEL); }

}  // namespace gw::isolate
