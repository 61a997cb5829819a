#include "engine_costs.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <utility>

#include "kernels.h"
#include "load_probe.h"
#include "os/clock.h"
#include "statistics.h"
#include "toolchain/compiler.h"
#include "toolchain/prep_child.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::bench {
namespace {

constexpr int kWarmStarts = 200;
constexpr int kIdleIsolates = 10000;
constexpr unsigned kHostCalls = 5000000;

template <class Duration>
double milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

Result<Bytes> link_large_module() {
  GW_TRY(auto compilation, toolchain::Compilation::start({{guest_source("kernels/big/library_tour.cpp"), toolchain::Language::cxx}}, {}));
  GW_TRY_VOID(compilation.preprocess());
  GW_TRY(const auto cache, toolchain::BuildCache::open_default());
  GW_TRY(auto linked, compilation.compile_and_link(cache));
  return std::move(linked.wasm);
}

// The size of the code section alone: names and data are the same in every form.
Result<double> code_bytes(ByteView wasm) {
  GW_TRY(const auto sections, wire::read_sections(wasm));
  for (const wire::Section& section : sections) {
    if (section.id == wire::SectionId::code) return static_cast<double>(section.payload.size());
  }
  return fail(Kind::invalid, "the module has no code");
}

Result<double> resident_kib() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total = 0, resident = 0;
  if (!(statm >> total >> resident)) return fail(Kind::internal, "/proc/self/statm cannot be read");
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

// A host that starts isolates and drops their output.
class SilentHost {
 public:
  Result<std::unique_ptr<isolate::Isolate>> start(GuestRunner& runner, isolate::PoolThread& thread,
                                                  const std::shared_ptr<const isolate::Module>& module) {
    return isolate::Isolate::make(runner.engine(), thread, module, {.args = {"bench"}},
                                  {input_, output_, output_, clock_, determinants_, chunks_});
  }

 private:
  isolate::EmptyInput input_;
  isolate::MemorySink output_;
  isolate::SystemClock clock_;
  isolate::LiveDeterminants determinants_;
  isolate::NoChunks chunks_;
};

}  // namespace

Result<EngineCosts> EngineCosts::build(Report& report) {
  GW_TRY(const Bytes linked, link_large_module());
  const auto start = os::monotonic_now();
  GW_TRY(prep::Output fine, toolchain::process_in_child(linked, {.level = wire::Level::fine}));
  report.add("prep_300kb_s", milliseconds(os::monotonic_now() - start) / 1000, "s", "goal: <= 6");
  GW_TRY(const prep::Output plain, toolchain::process_in_child(linked, {.level = wire::Level::off}));
  GW_TRY(const double fine_bytes, code_bytes(fine.wasm));
  GW_TRY(const double plain_bytes, code_bytes(plain.wasm));
  report.add("fine_code_size_ratio", fine_bytes / plain_bytes, "ratio", "code of the 300 KB module not mobile is 1; goal: <= 3");
  report.add("plain_code_300kb_kib", plain_bytes / 1024, "KiB", "code of the 300 KB module not mobile");

  EngineCosts costs;
  costs.large_fine_ = std::move(fine.wasm);
  GW_TRY(costs.small_fine_, build_module(guest_source("kernels/tuning/mandel.c"), wire::Level::fine));
  GW_TRY(costs.host_calls_, build_module(guest_source("probes/host_calls.c"), wire::Level::fine));
  return costs;
}

Status EngineCosts::measure(GuestRunner& runner, Report& report) const {
  GW_TRY_VOID(measure_loading(report));
  GW_TRY_VOID(measure_starting(runner, report));
  GW_TRY_VOID(measure_host_calls(runner, report));
  return measure_idling(runner, report);
}

Status EngineCosts::measure_loading(Report& report) const {
  GW_TRY(const os::TempDir folder, os::TempDir::make());
  const std::filesystem::path file = folder.path() / "large.wasm";
  GW_TRY_VOID(os::write_file_atomic(file, large_fine_));
  GW_TRY(const double compiled, load_milliseconds(file, std::nullopt));
  report.add("compile_300kb_ms", compiled, "ms", "fine; goal: <= 600");
  GW_TRY(const double cached, load_milliseconds(file, folder.path() / "cache"));
  report.add("cached_module_load_ms", cached, "ms", "the same module, whose hash is known, fresh process; goal: <= 5");
  return ok();
}

Status EngineCosts::measure_starting(GuestRunner& runner, Report& report) const {
  GW_TRY(auto module, runner.load(small_fine_));
  SilentHost host;
  auto start = os::monotonic_now();
  GW_TRY(auto thread, runner.engine().make_thread());
  GW_TRY(auto first, host.start(runner, *thread, module));
  report.add("isolate_start_first_ms", milliseconds(os::monotonic_now() - start), "ms", "with a new pool thread");
  std::vector<std::unique_ptr<isolate::Isolate>> alive;
  std::vector<double> times;
  for (int i = 0; i < kWarmStarts; i++) {
    start = os::monotonic_now();
    GW_TRY(auto next, host.start(runner, *thread, module));
    times.push_back(milliseconds(os::monotonic_now() - start));
    alive.push_back(std::move(next));
  }
  report.add("isolate_start_warm_ms", percentile(times, 0.5), "ms", "median; goal: <= 0.5");
  return ok();
}

Status EngineCosts::measure_idling(GuestRunner& runner, Report& report) const {
  GW_TRY(auto module, runner.load(small_fine_));
  GW_TRY(auto thread, runner.engine().make_thread());
  SilentHost host;
  std::vector<std::unique_ptr<isolate::Isolate>> alive;
  GW_TRY(const double before, resident_kib());
  for (int i = 0; i < kIdleIsolates; i++) {
    GW_TRY(auto next, host.start(runner, *thread, module));
    alive.push_back(std::move(next));
  }
  GW_TRY(const double after, resident_kib());
  report.add("idle_isolates", static_cast<double>(alive.size()), "count", "of one small module, alive in one process; goal: 10,000");
  report.add("idle_isolate_kib", (after - before) / kIdleIsolates, "KiB", "resident, with the touched part of their memory; goal: <= 200");
  return ok();
}

Status EngineCosts::measure_host_calls(GuestRunner& runner, Report& report) const {
  GW_TRY(auto module, runner.load(host_calls_));
  GW_TRY(const RunCost few, runner.run(module, {"host_calls", "1"}));
  GW_TRY(const RunCost many, runner.run(module, {"host_calls", std::to_string(kHostCalls)}));
  report.add("host_call_ns", (many.cpu_seconds - few.cpu_seconds) / (kHostCalls - 1) * 1e9, "ns", "CPU time of one args_sizes_get");
  return ok();
}

}  // namespace gw::bench
