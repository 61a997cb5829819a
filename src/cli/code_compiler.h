#pragma once
// The processes that fill the code cache.

#include <filesystem>
#include <string_view>

#include "node/native_code.h"

namespace gw::cli {

// Words by which `godwit` calls itself (main.cc).
inline constexpr std::string_view kCompileWord = "compile";
inline constexpr std::string_view kFillWord = "fill-code-cache";

inline node::NativeCode::Config native_code_config(const std::filesystem::path& cache_root) {
  // This very program, also after its file was replaced on disk.
  constexpr const char* kSelf = "/proc/self/exe";
  return {.cache_root = cache_root, .compiler = {kSelf, std::string(kCompileWord)}, .filler = {kSelf, std::string(kFillWord)}};
}

}  // namespace gw::cli
