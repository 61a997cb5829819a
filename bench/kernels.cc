#include "kernels.h"

#include <algorithm>

#include "os/process/process.h"
#include "toolchain/build.h"

namespace gw::bench {
namespace {

const std::filesystem::path kBenchRoot = GODWIT_BENCH_ROOT;

}  // namespace

Result<std::filesystem::path> build_native(const std::filesystem::path& source, const std::filesystem::path& folder) {
  const bool is_c = source.extension() == ".c";
  const std::filesystem::path target = folder / source.stem();
  os::ProcessRequest request;
  request.argv = {is_c ? "clang-19" : "clang++-19", is_c ? "-std=c17" : "-std=c++20", "-O3", "-w", source, "-o", target, "-lm"};
  GW_TRY(const os::ProcessResult result, os::run_process(request));
  if (!result.succeeded()) return fail(Kind::invalid, "{} does not compile natively:\n{}", source.string(), result.err);
  return target;
}

std::string name(Half half) { return half == Half::tuning ? "tuning" : "held_out"; }

Result<std::vector<Kernel>> find_kernels(Half half) {
  const std::filesystem::path folder = kBenchRoot / "kernels" / name(half);
  std::error_code ec;
  std::vector<Kernel> kernels;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ec)) {
    kernels.push_back({entry.path().stem(), half, entry.path()});
  }
  if (ec || kernels.empty()) return fail(Kind::not_found, "no kernels in {}: run the bench of a source tree", folder.string());
  std::sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) { return a.name < b.name; });
  return kernels;
}

std::filesystem::path guest_source(const std::string& path) { return kBenchRoot / path; }

Result<Bytes> build_module(const std::filesystem::path& source, wire::Level level) {
  toolchain::BuildRequest request;
  request.inputs = {source};
  request.mobility.level = level;
  GW_TRY(toolchain::BuildOutput output, toolchain::build(request));
  return std::move(output.wasm);
}

Result<BuiltKernel> build_kernel(const Kernel& kernel, const std::filesystem::path& folder) {
  BuiltKernel built{.kernel = kernel};
  GW_TRY(built.native, build_native(kernel.source, folder));
  GW_TRY(built.plain, build_module(kernel.source, wire::Level::off));
  GW_TRY(built.coarse, build_module(kernel.source, wire::Level::coarse));
  GW_TRY(built.fine, build_module(kernel.source, wire::Level::fine));
  return built;
}

}  // namespace gw::bench
