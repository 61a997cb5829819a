// The efficiency of a job on unequal peers (seed 001, section on results; Donaldson et al.): the rate of each peer is measured with one
// program alone, without the grid; the efficiency of a job on all of them is its rate over the sum of theirs. Everything counts: finding
// the peers, the start of workers, the end of the job, the command. The peers are control groups with a part of a processor each, daemon
// included.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "kernels.h"
#include "loopback.h"
#include "peer_stack.h"
#include "statistics.h"
#include "suites.h"
#include "task_references.h"

namespace gw::bench {
namespace {

// Less than two processors together: the rest is for the command and the system.
constexpr std::array<double, 4> kProcessors = {0.7, 0.45, 0.3, 0.15};
constexpr std::uint64_t kFewSteps = 1'000;
constexpr double kRateSeconds = 2;  // of measuring the rate of a peer

struct Lengths {
  double seconds = 60;  // of a job on peers that are used fully
  unsigned runs = 5;
};

struct Case {
  std::size_t peers;
  double task_seconds;  // on the fastest peer
  std::string name;
};

// Runs a program of so many steps on a machine, and says how long it took.
using RunSteps = std::function<Result<double>(std::size_t machine, std::uint64_t steps)>;

// Steps per second, without what the start of a program takes.
Result<double> rate_of(std::size_t machine, const RunSteps& run) {
  GW_TRY_VOID(run(machine, kFewSteps));
  std::uint64_t steps = 10'000'000;
  for (;;) {
    GW_TRY(const double start, run(machine, kFewSteps));
    GW_TRY(const double whole, run(machine, steps));
    const double seconds = whole - start;
    if (seconds >= kRateSeconds) return static_cast<double>(steps) / seconds;
    steps = static_cast<std::uint64_t>(static_cast<double>(steps) * std::min(20.0, 1.3 * kRateSeconds / std::max(seconds, 0.01)));
  }
}

struct Plan {
  double rate = 0;  // steps per second of all peers
  std::uint64_t steps = 0;
  unsigned tasks = 0;

  double efficiency(double seconds) const { return static_cast<double>(steps) * tasks / seconds / rate; }
};

Result<Plan> plan_of(const Case& one, double seconds, const RunSteps& run) {
  Plan plan;
  double fastest = 0;
  for (std::size_t machine = 0; machine < one.peers; ++machine) {
    GW_TRY(const double rate, rate_of(machine, run));
    plan.rate += rate;
    fastest = std::max(fastest, rate);
  }
  plan.steps = static_cast<std::uint64_t>(fastest * one.task_seconds);
  plan.tasks = static_cast<unsigned>(std::ceil(seconds * plan.rate / static_cast<double>(plan.steps)));
  return plan;
}

Result<double> measure_ours(const PeerStack& stack, const Case& one, const Lengths& lengths) {
  const std::string program = guest_source("probes/steps.c").string();
  const auto run_alone = [&](std::size_t machine, std::uint64_t steps) -> Result<double> {
    GW_TRY(const PeerStack::Run run, stack.alone(machine, {"run", program, "--", std::to_string(steps)}));
    return run.seconds;
  };
  GW_TRY(const Plan plan, plan_of(one, lengths.seconds, run_alone));
  std::vector<double> efficiencies;
  for (unsigned i = 0; i < lengths.runs; ++i) {
    GW_TRY(const PeerStack::Run run,
           stack.godwit({"run", program, "--tasks", std::to_string(plan.tasks), "--", std::to_string(plan.steps)}));
    efficiencies.push_back(plan.efficiency(run.seconds));
  }
  return percentile(efficiencies, 0.5);
}

Result<double> measure_dask_on(const PeerStack& stack, const Case& one, double seconds) {
  GW_TRY(const std::filesystem::path program, build_native(guest_source("probes/steps.c"), stack.folder()));
  const auto run_alone = [&](std::size_t machine, std::uint64_t steps) -> Result<double> {
    GW_TRY(const PeerStack::Run run, stack.alone_native(machine, {program.string(), std::to_string(steps)}));
    return run.seconds;
  };
  GW_TRY(const Plan plan, plan_of(one, seconds, run_alone));
  DaskJob job{.machines = {}, .program = program.string(), .argument = std::to_string(plan.steps), .tasks = plan.tasks};
  for (std::size_t machine = 0; machine < one.peers; ++machine) job.machines.push_back(stack.enter(machine));
  GW_TRY(const double took, run_dask_job(job));
  return plan.efficiency(took);
}

}  // namespace

Result<Report> run_efficiency_suite(const SuiteOptions& options) {
  Report report{.suite = "efficiency"};
  GW_TRY_VOID(enter_private_network());
  const bool quick = options.length == SuiteOptions::Length::quick;
  const Lengths lengths = quick ? Lengths{.seconds = 15, .runs = 1} : Lengths{.seconds = 60, .runs = options.runs};
  Chart chart{.name = "efficiency", .title = "Efficiency on unequal peers (seed 001's formula)", .unit = "%", .bars = {}};
  for (const Case& one : {Case{2, 1, "2_peers_1s"}, Case{3, 1, "3_peers_1s"}, Case{4, 1, "4_peers_1s"}, Case{4, 0.05, "4_peers_50ms"}}) {
    std::vector<std::optional<CpuQuota>> machines;
    for (std::size_t i = 0; i < one.peers; ++i) {
      GW_TRY(CpuQuota quota, CpuQuota::make(kProcessors[i]));
      machines.emplace_back(std::move(quota));
    }
    GW_TRY(const PeerStack stack, PeerStack::start(std::move(machines)));
    GW_TRY(const double ours, measure_ours(stack, one, lengths));
    report.add(
        "efficiency_" + one.name, ours, "ratio",
        fmt::format("median of {} runs of {:.0f} s; goal: >= {}", lengths.runs, lengths.seconds, one.task_seconds < 1 ? "0.95" : "0.98"));
    chart.bars.push_back({"Godwit, " + one.name, ours * 100});
    const auto dask = measure_dask_on(stack, one, lengths.seconds);
    if (dask) {
      report.add("dask_efficiency_" + one.name, *dask, "ratio", "native programs on workers of Dask in the same groups; one run");
      chart.bars.push_back({"Dask, " + one.name, *dask * 100});
    } else {
      report.add_missing("dask_efficiency_" + one.name, "ratio", dask.error().detail);
    }
  }
  report.charts.push_back(std::move(chart));
  return report;
}

}  // namespace gw::bench
