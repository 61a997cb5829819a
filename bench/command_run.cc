#include "command_run.h"

#include <algorithm>
#include <chrono>

#include "kernels.h"
#include "node/worker/native_code.h"
#include "os/clock.h"
#include "statistics.h"

namespace gw::bench {
namespace {

constexpr int kWarmUps = 3;
constexpr int kRuns = 20;

constexpr std::string_view kHello = "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n";

}  // namespace

Result<CommandRunner> CommandRunner::make() {
  GW_TRY(os::TempDir folder, os::TempDir::make());
  std::error_code error;
  const auto programs = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* name : {"godwit", "godwit-worker"}) {
    if (!std::filesystem::exists(programs / name, error))
      return fail(Kind::not_found, "{} is missing beside godwit-bench: build it too", name);
  }
  CommandRunner runner(std::move(folder), programs);
  std::filesystem::create_directories(runner.folder_.path() / "hello", error);
  GW_TRY_VOID(os::write_file_atomic(runner.folder_.path() / "hello" / "hello.c", as_bytes(kHello)));
  GW_TRY_VOID(runner.measure_nothing());
  return runner;
}

Status CommandRunner::prepare(ByteView wasm) const {
  const auto root = folder_.path() / "godwit";  // as os::cache_dir() has it
  GW_TRY(const auto code, node::NativeCode::open({.cache_root = root, .compiler = {(programs_ / "godwit-worker").string(), "--compile"}}));
  return code.make(wasm, isolate::CodeKind::start);
}

Result<RunCost> CommandRunner::run_file(const std::filesystem::path& program) const {
  return run_command({.argv = {(programs_ / "godwit").string(), "run", program.string()},
                      .env = {"XDG_CACHE_HOME=" + folder_.path().string(), "XDG_CONFIG_HOME=" + folder_.path().string()}});
}

Result<RunCost> CommandRunner::run(const std::filesystem::path& module) const {
  GW_TRY(RunCost cost, run_file(module));
  cost.cpu_seconds -= nothing_seconds_;
  return cost;
}

Status CommandRunner::measure_nothing() {
  const auto source = folder_.path() / "hello" / "hello.c", module = folder_.path() / "hello.wasm";
  GW_TRY(const Bytes wasm, build_module(source, wire::Level::fine));
  GW_TRY_VOID(os::write_file_atomic(module, wasm));
  GW_TRY_VOID(prepare(wasm));
  std::vector<double> times;
  for (int i = 0; i < kRuns; i++) {
    GW_TRY(const RunCost cost, run_file(module));
    times.push_back(cost.cpu_seconds);
  }
  nothing_seconds_ = percentile(times, 0.5);
  return ok();
}

Status CommandRunner::measure_hello(Report& report) {
  const auto source = folder_.path() / "hello" / "hello.c";
  for (int i = 0; i < kWarmUps; i++) GW_TRY_VOID(run_file(source));
  std::vector<double> times;
  for (int i = 0; i < kRuns; i++) {
    const auto start = os::monotonic_now();
    GW_TRY_VOID(run_file(source));
    times.push_back(std::chrono::duration<double, std::milli>(os::monotonic_now() - start).count());
  }
  report.add("run_hello_ms", percentile(times, 0.5), "ms", "`godwit run hello.c`, everything cached; goal: <= 60");
  return ok();
}

}  // namespace gw::bench
