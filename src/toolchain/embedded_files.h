#pragma once
// Files of sdk/guest inside this program, so that it builds guests wherever it is. Written by cmake/embed_text.cmake.

#include <string_view>

namespace gw::toolchain {

std::string_view runtime_source();          // godwit_runtime.c, linked into every guest
std::string_view reserved_memory_header();  // reserved_memory.h, which it includes

// For guests: godwit/godwit.h, task.h, godwit.hpp, task.hpp.
std::string_view guest_header();
std::string_view guest_task_header();
std::string_view guest_cxx_header();
std::string_view guest_cxx_task_header();

}  // namespace gw::toolchain
