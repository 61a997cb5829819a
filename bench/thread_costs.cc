#include "thread_costs.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "isolate/task_host.h"
#include "kernels.h"
#include "os/clock.h"
#include "statistics.h"

namespace gw::bench {
namespace {

constexpr int kMegabytes = 64;
constexpr int kChildren = 8;
constexpr int kCallsPerRound = 1000;
constexpr int kRounds = 20;

double milliseconds_since(std::chrono::nanoseconds start) {
  return std::chrono::duration<double, std::milli>(os::monotonic_now() - start).count();
}

// The memory of this process; a page that is mapped several times counts once.
Result<double> proportional_mib() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string word; rollup >> word;) {
    double kib = 0;
    if (word == "Pss:" && rollup >> kib) return kib / 1024;
  }
  return fail(Kind::internal, "/proc/self/smaps_rollup has no Pss");
}

// The host side of isolates whose output is dropped.
struct Silence {
  isolate::EmptyInput input;
  isolate::MemorySink output;
  isolate::SystemClock clock;
  isolate::LiveDeterminants determinants;
  isolate::NoChunks chunks;
  isolate::IsolateHost host() { return {input, output, output, clock, determinants, chunks}; }
};

using Isolates = std::vector<std::unique_ptr<isolate::Isolate>>;

template <class W>
Status resume_until(isolate::Isolate& guest) {
  const isolate::Stop stop = guest.resume();
  const auto* parked = std::get_if<isolate::Parked>(&stop);
  if (parked != nullptr && std::holds_alternative<W>(parked->on)) return ok();
  return fail(Kind::guest_fault, "a guest that forks has {}", isolate::describe(stop));
}

// REQUIRES: the first is parked to be forked. The parent runs to its next fork in between, the children do not.
Status fork_all(GuestRunner& runner, Silence& silence, Isolates& isolates) {
  isolate::Isolate& parent = *isolates.front();
  for (int i = 0; i < kChildren; i++) {
    if (i > 0) GW_TRY_VOID(resume_until<isolate::ForkRequested>(parent));
    GW_TRY(const auto point, parent.fork(static_cast<std::uint64_t>(i) + 2));
    GW_TRY(auto child, isolate::Isolate::make(runner.engine(), runner.thread(), point, silence.host()));
    isolates.push_back(std::move(child));
  }
  return ok();
}

// The median over rounds of what `call` takes on the pool thread.
Result<double> microseconds_per_call(GuestRunner& runner, const std::function<Status()>& call) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; round++) {
    const auto start = os::monotonic_now();
    GW_TRY_VOID(runner.thread().call([&]() -> Status {
      for (int i = 0; i < kCallsPerRound; i++) GW_TRY_VOID(call());
      return ok();
    }));
    rounds.push_back(milliseconds_since(start) * 1000 / kCallsPerRound);
  }
  return percentile(rounds, 0.5);
}

}  // namespace

Result<ThreadCosts> ThreadCosts::build() {
  ThreadCosts costs;
  GW_TRY(costs.fork_search_, build_module(guest_source("probes/fork_search.c"), wire::Level::fine));
  GW_TRY(costs.noop_task_, build_module(guest_source("probes/noop_task.c"), wire::Level::fine));
  GW_TRY(costs.noop_main_, build_module(guest_source("probes/noop_main.c"), wire::Level::fine));
  return costs;
}

Status ThreadCosts::measure(GuestRunner& runner, Report& report) const {
  GW_TRY_VOID(measure_fork(runner, report));
  GW_TRY_VOID(measure_tasks(runner, report));
  return measure_main(runner, report);
}

Status ThreadCosts::measure_fork(GuestRunner& runner, Report& report) const {
  GW_TRY(auto module, runner.load(fork_search_));
  Silence silence;
  Isolates isolates;
  const std::vector<std::string> args = {"fork_search", std::to_string(kMegabytes), std::to_string(kChildren)};
  GW_TRY(auto parent, isolate::Isolate::make(runner.engine(), runner.thread(), module, {.args = args}, silence.host()));
  isolates.push_back(std::move(parent));
  GW_TRY_VOID(resume_until<isolate::ForkRequested>(*isolates.front()));
  GW_TRY(const double before, proportional_mib());
  const auto start = os::monotonic_now();
  GW_TRY_VOID(fork_all(runner, silence, isolates));
  report.add("fork_64mib_8_ms", milliseconds_since(start), "ms", "a warm program of 64 MiB to 8 children, in all; goal: <= 50");
  for (const auto& isolate : isolates) GW_TRY_VOID(resume_until<isolate::AtCheckpoint>(*isolate));
  GW_TRY(const double after, proportional_mib());
  report.add("fork_extra_memory", (after - before) / kMegabytes, "ratio", "of its 64 MiB, when all 8 have read everything; goal: <= 0.1");
  return ok();
}

Status ThreadCosts::measure_tasks(GuestRunner& runner, Report& report) const {
  GW_TRY(auto module, runner.load(noop_task_));
  GW_TRY(const RunCost number, runner.run(module, {"noop_task"}));
  const auto function = static_cast<std::uint32_t>(std::strtoul(number.output.c_str(), nullptr, 10));
  Silence silence;
  GW_TRY(auto tasks, isolate::TaskHost::make(runner.engine(), runner.thread(), module, {.args = {"noop_task"}}, silence.host()));
  GW_TRY(const double call, microseconds_per_call(runner, [&]() -> Status {
           GW_TRY_VOID(tasks->call(function, as_bytes("argument")));
           return ok();
         }));
  report.add("task_call_us", call, "us", "a task that does nothing, in a warm isolate, state put back; goal: <= 50");
  return ok();
}

Status ThreadCosts::measure_main(GuestRunner& runner, Report& report) const {
  GW_TRY(auto module, runner.load(noop_main_));
  Silence silence;
  GW_TRY(auto guest, isolate::Isolate::make(runner.engine(), runner.thread(), module, {}, silence.host()));
  GW_TRY(const isolate::ForkPoint point, guest->freeze());
  GW_TRY(const double run, microseconds_per_call(runner, [&]() -> Status {
           GW_TRY_VOID(guest->set_start({.args = {"noop_main"}, .env = {"GODWIT_TASK=1"}, .random_seed = {}}));
           const isolate::Stop stop = guest->resume();
           if (!std::holds_alternative<isolate::Exited>(stop) || !guest->put_back(point))
             return fail(Kind::guest_fault, "a program that does nothing has {}", isolate::describe(stop));
           return ok();
         }));
  report.add("main_call_us", run, "us", "a program that does nothing, from its start to its end, state put back; goal: <= 15");
  return ok();
}

}  // namespace gw::bench
