#include "task_references.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "kernels.h"
#include "os/files/file.h"
#include "os/process/child_process.h"
#include "os/process/process.h"

namespace gw::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr unsigned kDaskTasks = 5'000;
constexpr unsigned kParallelTasks = 1'000;
constexpr unsigned kGearmanTasks = 500;  // of each client: a client waits 40 ms and more for each answer
constexpr std::chrono::minutes kGearmanPatience{2};
constexpr const char* kPython = "/usr/bin/python3";  // Debian's: another one in PATH does not have Debian's packages
constexpr std::chrono::minutes kDaskPatience{30};

Status require_program(const fs::path& program, const char* package) {
  std::error_code error;
  if (fs::exists(program, error)) return ok();
  return fail(Kind::not_found, "the package {} is not installed: run tools/setup --bench", package);
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Result<nlohmann::json> dask(std::vector<std::string> words) {
  GW_TRY(const os::ProcessResult there, os::run_process({.argv = {kPython, "-c", "import distributed"}, .stdin_bytes = {}}));
  if (!there.succeeded()) return fail(Kind::not_found, "the package python3-distributed is not installed: run tools/setup --bench");
  words.insert(words.begin(), {kPython, guest_source("references/dask_tasks.py").string()});
  GW_TRY(const os::ProcessResult done, os::run_process({.argv = std::move(words), .stdin_bytes = {}, .timeout = kDaskPatience}));
  auto figures = nlohmann::json::parse(done.out, nullptr, /*allow_exceptions=*/false);
  if (!done.succeeded() || !figures.is_object()) return fail(Kind::internal, "Dask failed: {}", done.err.substr(0, 400));
  return figures;
}

// Ends with the object, as its worker and server do.
Result<os::ChildProcess> start_quietly(std::vector<std::string> words) {
  const os::UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  return os::ChildProcess::start({.argv = std::move(words),
                                  .env = {"PATH=/usr/sbin:/usr/bin:/bin", "HOME=/tmp"},
                                  .descriptors = {{nothing.get(), 0}, {nothing.get(), 1}, {nothing.get(), 2}}});
}

}  // namespace

Result<DaskFigures> measure_dask() {
  GW_TRY(const nlohmann::json figures, dask({"noop", std::to_string(kDaskTasks)}));
  return DaskFigures{figures.value("tasks_per_s", 0.0), figures.value("latency_ms_p50", 0.0), figures.value("latency_ms_p99", 0.0)};
}

Result<double> run_dask_job(const DaskJob& job) {
  const std::string machines = nlohmann::json(job.machines).dump();
  GW_TRY(const nlohmann::json figures, dask({"job", std::to_string(job.tasks), job.program, job.argument, machines}));
  return figures.value("seconds", 0.0);
}

Result<double> measure_parallel() {
  GW_TRY_VOID(require_program("/usr/bin/parallel", "parallel"));
  const auto start = Clock::now();
  const std::string command = fmt::format("seq {} | /usr/bin/parallel --will-cite -j2 true > /dev/null", kParallelTasks);
  GW_TRY(const os::ProcessResult done, os::run_process({.argv = {"/bin/sh", "-c", command}, .stdin_bytes = {}}));
  if (!done.succeeded()) return fail(Kind::internal, "GNU parallel failed: {}", done.err.substr(0, 400));
  return kParallelTasks / seconds_since(start);
}

Result<double> measure_gearman() {
  GW_TRY_VOID(require_program("/usr/sbin/gearmand", "gearman-job-server"));
  GW_TRY_VOID(require_program("/usr/bin/gearman", "gearman-tools"));
  GW_TRY(const os::TempDir folder, os::TempDir::make());
  const std::string number = "4730";  // nothing else listens in this network
  GW_TRY(const os::ChildProcess server,
         start_quietly({"/usr/sbin/gearmand", "-L", "127.0.0.1", "-p", number, "-l", (folder.path() / "log").string()}));
  std::vector<os::ChildProcess> workers;
  for (int i = 0; i < 2; ++i) {
    GW_TRY(os::ChildProcess worker, start_quietly({"/usr/bin/gearman", "-w", "-h", "127.0.0.1", "-p", number, "-f", "noop"}));
    workers.push_back(std::move(worker));
  }
  const std::string client = fmt::format("gearman -h 127.0.0.1 -p {} -f noop", number);
  // The first job answers when server and workers are there.
  const std::string first =
      fmt::format("for i in $(seq 100); do echo 1 | {} -n > /dev/null 2>&1 && exit 0; sleep 0.1; done; exit 1", client);
  GW_TRY(const os::ProcessResult ready, os::run_process({.argv = {"/bin/sh", "-c", first}, .stdin_bytes = {}}));
  if (!ready.succeeded()) return fail(Kind::timeout, "the server of gearman does not answer");
  const std::string both = fmt::format("seq {0} | {1} -n & seq {0} | {1} -n; wait", kGearmanTasks, client);
  const auto start = Clock::now();
  GW_TRY(const os::ProcessResult done, os::run_process({.argv = {"/bin/sh", "-c", both}, .stdin_bytes = {}, .timeout = kGearmanPatience}));
  if (!done.succeeded()) return fail(Kind::internal, "gearman failed: {}", done.err.substr(0, 400));
  return 2 * kGearmanTasks / seconds_since(start);
}

}  // namespace gw::bench
