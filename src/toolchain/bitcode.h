#pragma once
// The passes over a program between the two halves of clang, from source to bitcode and from bitcode to code.

#include <filesystem>
#include <vector>

#include "base/result.h"

namespace gw::toolchain {

// Rewrites LLVM bitcode files in place: exception handlers (handler_fix.h), thread_local variables (thread_locals.h), and the wasm features
// that only the first half was to see (clang.h). Files that need nothing of it are not touched. In a forked child, because LLVM ends the
// process on bitcode it cannot read. REQUIRES: no other thread holds a lock.
Status rewrite_bitcode(const std::vector<std::filesystem::path>& bitcode);

}  // namespace gw::toolchain
