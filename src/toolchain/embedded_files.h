#pragma once
// Files of sdk/guest inside this program, so that it builds guests wherever it is. Written by cmake/embed_text.cmake.

#include <span>
#include <string_view>

namespace gw::toolchain {

struct EmbeddedFile {
  std::string_view path;  // below sdk/guest: runtime/godwit_runtime.c, include/godwit/godwit.h
  std::string_view text;
};

std::span<const EmbeddedFile> guest_sdk();

}  // namespace gw::toolchain
