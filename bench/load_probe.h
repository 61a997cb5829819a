#pragma once
// The time a fresh process needs until a module is ready to run.

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace gw::bench {

// Milliseconds for Engine::load() of the module in the file; median of some fresh processes, since an engine remembers what it has seen.
// With a cache root the compiled code is in the cache there before the measurement begins; without, every process compiles.
Result<double> load_milliseconds(const std::filesystem::path& module, const std::optional<std::filesystem::path>& cache_root);

// The main function of such a process: `godwit-bench load-once MODULE [CACHE]` prints the milliseconds.
int load_once_main(std::span<const std::string> args);

}  // namespace gw::bench
