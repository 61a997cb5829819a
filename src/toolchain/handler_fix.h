#pragma once
// A step between the two halves of clang that works around a miscompilation of exception handlers.

#include "toolchain/llvm_library.h"

namespace gw::toolchain {

// Changes code that contains the pattern that clang 19 miscompiles with -fwasm-exceptions. False: there was none.
bool fix_handlers(const LlvmLibrary& llvm, LlvmLibrary::Builder builder, LlvmLibrary::Module module);

}  // namespace gw::toolchain
