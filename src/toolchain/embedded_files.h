#pragma once
// Files of sdk/guest inside this program, so that it builds guests wherever it is. Written by cmake/embed_text.cmake.

#include <string_view>

namespace gw::toolchain {

std::string_view runtime_source();          // godwit_runtime.c, linked into every guest
std::string_view reserved_memory_header();  // reserved_memory.h, which it includes
std::string_view guest_header();            // godwit/godwit.h, for guests

}  // namespace gw::toolchain
