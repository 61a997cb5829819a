#include "worker_tasks.h"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "kernels.h"
#include "node/worker/worker_process.h"
#include "os/clock.h"

namespace gw::bench {
namespace {

using node::WorkerProcess;
using wire::pb::ToWorker;

constexpr std::uint32_t kTasks = 100'000;
constexpr std::uint32_t kInWorker = 4096;  // as a host keeps there
constexpr std::uint32_t kAtOnce = 256;
constexpr std::chrono::seconds kGiveUpAfter{300};

std::vector<os::UniqueFd> sealed(const char* name, ByteView bytes) {
  std::vector<os::UniqueFd> list;
  if (auto memory = os::SealedMemory::make(name, bytes))
    if (auto fd = memory->share()) list.push_back(*std::move(fd));
  return list;
}

Result<std::chrono::nanoseconds> cpu_time_of(pid_t process) {
  clockid_t clock = 0;
  timespec time{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    return fail(Kind::internal, "the CPU time of the worker cannot be read");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

Result<std::unique_ptr<WorkerProcess>> start_worker(ByteView wasm) {
  std::error_code error;
  const auto programs = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  GW_TRY(auto worker, WorkerProcess::start({.program = programs / "godwit-worker", .limits = {}}));
  ToWorker load;
  load.mutable_load()->set_pool_threads(2);
  GW_TRY_VOID(worker->send(load, sealed("module", wasm)));
  wire::pb::ThreadConfig config;
  config.add_args("noop_main");
  config.set_random_seed(std::string(32, 's'));
  ToWorker setup;
  setup.mutable_task_setup()->set_tasks(kTasks);
  setup.mutable_task_setup()->set_promote_after_ns(1'000'000'000);
  GW_TRY_VOID(worker->send(setup, sealed("config", as_bytes(config.SerializeAsString()))));
  return worker;
}

// Runs the tasks [first, end), keeping kInWorker of them in the worker.
Status run(WorkerProcess& worker, std::uint32_t first, std::uint32_t end) {
  const auto give_up = os::monotonic_now() + kGiveUpAfter;
  std::uint32_t given = first;
  for (std::uint32_t done = first; done < end;) {
    while (given < end && given - done + kAtOnce <= kInWorker) {
      const std::uint32_t count = std::min(kAtOnce, end - given);
      ToWorker frame;
      frame.mutable_run_tasks()->set_lanes(1024);
      frame.mutable_run_tasks()->add_ranges()->set_first(given);
      frame.mutable_run_tasks()->mutable_ranges(0)->set_count(count);
      GW_TRY_VOID(worker.send(frame));
      given += count;
    }
    std::vector<pollfd> watched;
    worker.add_watched(watched);
    (void)::poll(watched.data(), watched.size(), 100);
    for (const WorkerProcess::Received& received : worker.on_turn())
      done += static_cast<std::uint32_t>(received.frame.task_results().results_size());
    if (worker.death()) return fail(Kind::internal, "the worker has died: {}", worker.death()->sentence);
    if (os::monotonic_now() > give_up) return fail(Kind::overloaded, "the worker has finished {} tasks only", done - first);
  }
  return ok();
}

}  // namespace

Status measure_worker_tasks(Report& report) {
  GW_TRY(const Bytes wasm, build_module(guest_source("probes/noop_main.c"), wire::Level::fine));
  GW_TRY(const auto worker, start_worker(wasm));
  constexpr std::uint32_t kWarmUp = kTasks / 10;
  GW_TRY_VOID(run(*worker, 0, kWarmUp));
  GW_TRY(const auto cpu_before, cpu_time_of(worker->pid()));
  const auto start = os::monotonic_now();
  GW_TRY_VOID(run(*worker, kWarmUp, kTasks));
  const std::chrono::duration<double> took = os::monotonic_now() - start;
  GW_TRY(const auto cpu_after, cpu_time_of(worker->pid()));
  const std::chrono::duration<double, std::micro> cpu = cpu_after - cpu_before;
  report.add("worker_tasks_per_s", (kTasks - kWarmUp) / took.count(), "1/s", "programs that do nothing, in one worker with two lanes");
  report.add("worker_task_cpu_us", cpu.count() / (kTasks - kWarmUp), "us", "CPU time of the worker for each of them");
  return ok();
}

}  // namespace gw::bench
