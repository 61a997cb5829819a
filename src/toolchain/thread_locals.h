#pragma once
// A step between the two halves of clang that gives each guest thread its own thread_local variables.

#include <string_view>

#include "base/result.h"
#include "toolchain/llvm_library.h"

namespace gw::toolchain {

// Does a source text, or what the preprocessor made of it, name thread_local variables?
bool mentions_thread_locals(std::string_view text);

// Makes each access to a thread_local variable a call of the runtime. False: there was none.
Result<bool> separate_thread_locals(const LlvmLibrary& llvm, LlvmLibrary::Context context, LlvmLibrary::Builder builder,
                                    LlvmLibrary::Module module);

}  // namespace gw::toolchain
