#pragma once
// The compile-only process.

#include <span>
#include <string>

namespace gw::isolate {

// Compiles the module on standard input and writes the native code to standard output; args[0] is the CodeKind, `start` or `restore`.
// Never runs a guest, and opens no file, so it works in a cage. Returns the exit code: 0, 1 failed, 2 bad input; the reason is on stderr.
int compile_only_main(std::span<const std::string> args);

}  // namespace gw::isolate
