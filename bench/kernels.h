#pragma once
// The programs that are measured (bench/kernels), built natively and for the engine.

#include <filesystem>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "wire/wasm/module_info.h"

namespace gw::bench {

// The pre-processor was tuned on one half; the other half keeps that honest.
enum class Half { tuning, held_out };

std::string name(Half half);

struct Kernel {
  std::string name;
  Half half;
  std::filesystem::path source;
};

// Every source of bench/kernels/<half>, by name.
Result<std::vector<Kernel>> find_kernels(Half half);

// Kernels and probes that are not measured for speed, by their path below bench/.
std::filesystem::path guest_source(const std::string& path);

// A kernel in the four forms that are compared.
struct BuiltKernel {
  Kernel kernel;
  std::filesystem::path native;  // clang -O3
  Bytes plain, coarse, fine;     // modules
};

// Natives are put into `folder`, which must exist and outlive them. REQUIRES: no engine has been started in this process (build forks).
Result<BuiltKernel> build_kernel(const Kernel& kernel, const std::filesystem::path& folder);

// A source compiled for this machine: clang -O3.
Result<std::filesystem::path> build_native(const std::filesystem::path& source, const std::filesystem::path& folder);

Result<Bytes> build_module(const std::filesystem::path& source, wire::Level level);

}  // namespace gw::bench
