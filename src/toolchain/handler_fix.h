#pragma once
// A step between the two halves of clang that works around a miscompilation of exception handlers.

#include <filesystem>
#include <vector>

#include "base/result.h"

namespace gw::toolchain {

// Rewrites LLVM bitcode files in place, where they contain the pattern that clang 19 miscompiles with -fwasm-exceptions; others are not
// touched. In a forked child, because LLVM ends the process on bitcode it cannot read. REQUIRES: no other thread holds a lock.
Status fix_handlers(const std::vector<std::filesystem::path>& bitcode);

}  // namespace gw::toolchain
