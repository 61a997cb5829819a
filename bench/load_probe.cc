#include "load_probe.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <vector>

#include "guest_run.h"
#include "isolate/engine/engine_environment.h"
#include "os/clock.h"
#include "os/files/file.h"
#include "os/process/process.h"
#include "statistics.h"
#include "wire/image/image.h"

namespace gw::bench {
namespace {

constexpr int kProcesses = 5;

Result<double> load_in_this_process(std::span<const std::string> args) {
  if (args.empty() || args.size() > 2) return fail(Kind::invalid, "load-once needs MODULE [CACHE]");
  GW_TRY(Bytes wasm, os::read_file(args[0], wire::kMaxModuleBytes));
  GW_TRY(auto engine, isolate::Engine::make());
  const auto start = os::monotonic_now();
  const Hash256 hash = sha256(wasm);
  if (args.size() == 2) {
    GW_TRY_VOID(load_compiled(*engine, args[1], hash, std::move(wasm), isolate::CodeKind::start));
  } else {
    GW_TRY_VOID(engine->load(std::move(wasm)));
  }
  return std::chrono::duration<double, std::milli>(os::monotonic_now() - start).count();
}

Result<double> load_in_new_process(const std::vector<std::string>& words) {
  os::ProcessRequest request{.argv = {"/proc/self/exe", "load-once"}, .env = {std::string(isolate::kEngineEnvironment)}};
  request.argv.insert(request.argv.end(), words.begin(), words.end());
  GW_TRY(const os::ProcessResult result, os::run_process(request));
  if (!result.succeeded()) return fail(Kind::internal, "loading {} failed: {}", words.front(), result.err);
  return std::strtod(result.out.c_str(), nullptr);
}

}  // namespace

Result<double> load_milliseconds(const std::filesystem::path& module, const std::optional<std::filesystem::path>& cache_root) {
  std::vector<std::string> words = {module};
  if (cache_root) {
    words.push_back(*cache_root);
    GW_TRY_VOID(load_in_new_process(words));  // fills the cache
  }
  std::vector<double> times;
  for (int i = 0; i < kProcesses; i++) {
    GW_TRY(const double time, load_in_new_process(words));
    times.push_back(time);
  }
  return percentile(std::move(times), 0.5);
}

int load_once_main(std::span<const std::string> args) {
  const Result<double> time = load_in_this_process(args);
  if (!time) {
    fmt::print(stderr, "godwit-bench: {}\n", time.error().detail);
    return 1;
  }
  fmt::print("{:.6f}\n", *time);
  return 0;
}

}  // namespace gw::bench
