#pragma once
// The compile-only process.

#include <span>
#include <string>

namespace gw::isolate {

// Compiles the module on standard input and stores the code in the cache under args[0]. Never runs a guest, so it alone may write the
// cache. What `godwit compile` does; Engine starts it. Returns the exit code: 0, 1 failed, 2 bad input; the reason is on stderr.
int compile_only_main(std::span<const std::string> args);

}  // namespace gw::isolate
