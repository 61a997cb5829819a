#pragma once
// The other processes behind `godwit`: the worker, and those that fill the code cache.

#include <filesystem>
#include <string_view>

#include "node/worker/native_code.h"

namespace gw::cli {

// The word by which `godwit` calls itself to fill the code cache (main.cc).
inline constexpr std::string_view kFillWord = "fill-code-cache";

// godwit-worker, which lies beside this program.
Result<std::filesystem::path> worker_program();

node::NativeCode::Config native_code_config(const std::filesystem::path& cache_root, const std::filesystem::path& worker);

}  // namespace gw::cli
