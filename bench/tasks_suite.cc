// Tasks that do nothing, each an ordinary program's main, through one home on two peers; beside other systems on the same machine.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "kernels.h"
#include "loopback.h"
#include "peer_stack.h"
#include "statistics.h"
#include "suites.h"
#include "task_references.h"

namespace gw::bench {
namespace {

constexpr unsigned kRunsOfHundred = 15;
constexpr unsigned kMillion = 1'000'000;
constexpr unsigned kQuickTasks = 200'000;
constexpr unsigned kTimedTasks = 2'000;
constexpr unsigned kWarmUp = 100;  // tasks whose times do not count

std::string source(const char* probe) { return guest_source(std::string("probes/") + probe).string(); }

Status measure_hundred(const PeerStack& stack, Report& report) {
  std::vector<double> times;
  for (unsigned i = 0; i < kRunsOfHundred; ++i) {
    GW_TRY(const PeerStack::Run run, stack.godwit({"run", source("noop_main.c"), "--tasks", "100"}));
    times.push_back(run.seconds * 1000);
  }
  report.add("run_100_noop_ms", percentile(times, 0.5), "ms",
             "`run noop.c --tasks 100`, everything cached, from start to end; goal: <= 150");
  return ok();
}

Status measure_accepting(const PeerStack& stack, Report& report) {
  GW_TRY(const PeerStack::Run run,
         stack.godwit({"run", source("noop_main.c"), "--tasks", std::to_string(kMillion), "--detach", "-o", "quiet"}));
  report.add("million_accept_s", run.seconds, "s", "`run noop.c --tasks 1000000 --detach`; goal: <= 2");
  GW_TRY_VOID(stack.godwit({"job", "cancel", run.out.substr(0, run.out.find('\n'))}));
  return ok();
}

Result<double> measure_throughput(const PeerStack& stack, const SuiteOptions& options, Report& report) {
  const bool quick = options.length == SuiteOptions::Length::quick;
  const unsigned tasks = quick ? kQuickTasks : kMillion;
  GW_TRY(const PeerStack::Run run, stack.godwit({"run", source("noop_main.c"), "--tasks", std::to_string(tasks)}));
  const double rate = tasks / run.seconds;
  report.add("tasks_per_s", rate, "1/s", fmt::format("{} mains that do nothing, the command attached; goal: >= 30000", tasks));
  if (quick) {
    report.add_missing("million_tasks_home_mib", "MiB", "--quick runs no million of tasks");
  } else {
    GW_TRY(const double peak, stack.peak_home_mib());
    report.add("million_tasks_home_mib", peak, "MiB", "the most memory the daemon of the home had; goal: <= 256");
  }
  return rate;
}

// Tasks that begin one after the other on one slot, each given out when the result of the one before is at home: from the beginning of one
// to that of the next is a task's whole way, there and back. A host that has its next tasks in advance would show nothing.
// A line is shown when its task is on the disk of home.
Status measure_latency(const PeerStack& stack, Report& report) {
  const char* const unit = "ms";
  const auto lines =
      stack.godwit_lines({"run", source("timed_main.c"), "--tasks", std::to_string(kTimedTasks), "--workers", "1", "--no-prefetch"});
  if (!lines) {
    for (const char* name : {"task_latency_ms_p50", "task_latency_ms_p99", "task_shown_ms_p50"})
      report.add_missing(name, unit, lines.error().detail);
    return ok();
  }
  std::vector<std::int64_t> began;
  std::vector<double> shown;
  for (const PeerStack::Line& line : *lines) {
    std::int64_t at = 0;
    const auto [end, error] = std::from_chars(line.text.data(), line.text.data() + line.text.size(), at);
    if (error != std::errc()) return fail(Kind::internal, "a task printed '{}' instead of its time", line.text);
    began.push_back(at);
    if (began.size() > kWarmUp) shown.push_back(static_cast<double>(line.read_at - at) / 1000);
  }
  if (began.size() != kTimedTasks) return fail(Kind::internal, "{} of {} tasks have printed their time", began.size(), kTimedTasks);
  std::ranges::sort(began);
  std::vector<double> ways;
  for (std::size_t i = kWarmUp + 1; i < began.size(); ++i) ways.push_back(static_cast<double>(began[i] - began[i - 1]) / 1000);
  const char* const what = "task to result at home inside a running job, an idle slot";
  report.add("task_latency_ms_p50", percentile(ways, 0.5), unit, fmt::format("{}; goal: <= 0.5", what));
  report.add("task_latency_ms_p99", percentile(ways, 0.99), unit, fmt::format("{}; goal: <= 5", what));
  report.add("task_shown_ms_p50", percentile(shown, 0.5), unit, "until its output is durable and printed by the command; goal: <= 10");
  return ok();
}

void add_reference(const Result<double>& rate, const char* label, const char* name, Report& report, Chart& chart) {
  if (!rate) return report.add_missing(name, "1/s", rate.error().detail);
  report.add(name, *rate, "1/s", "the same run, the same machine");
  chart.bars.push_back({label, *rate});
}

void add_references(double ours, Report& report) {
  Chart chart{.name = "tasks_per_second", .title = "Tasks that do nothing, per second", .unit = "/s", .bars = {{"Godwit", ours}}};
  const auto dask = measure_dask();
  add_reference(dask ? Result<double>(dask->tasks_per_s) : Result<double>(dask.error()), "Dask", "dask_tasks_per_s", report, chart);
  if (dask) {
    report.add("tasks_vs_dask", ours / dask->tasks_per_s, "ratio", "ours over Dask's; goal: >= 40");
    report.add("dask_latency_ms_p50", dask->latency_ms_p50, "ms", "one function at a time that does nothing");
    report.add("dask_latency_ms_p99", dask->latency_ms_p99, "ms", "one function at a time that does nothing");
  } else {
    report.add_missing("tasks_vs_dask", "ratio", dask.error().detail);
  }
  add_reference(measure_gearman(), "gearman", "gearman_tasks_per_s", report, chart);
  add_reference(measure_parallel(), "GNU parallel", "parallel_tasks_per_s", report, chart);
  report.charts.push_back(std::move(chart));
}

}  // namespace

Result<Report> run_tasks_suite(const SuiteOptions& options) {
  Report report{.suite = "tasks"};
  GW_TRY_VOID(enter_private_network());
  double ours = 0;
  {
    std::vector<std::optional<CpuQuota>> machines(2);
    GW_TRY(const PeerStack stack, PeerStack::start(std::move(machines)));
    GW_TRY_VOID(stack.godwit({"run", source("noop_main.c"), "--tasks", "1000"}));  // builds it, and fills the caches
    GW_TRY_VOID(measure_hundred(stack, report));
    GW_TRY_VOID(measure_latency(stack, report));
    GW_TRY_VOID(measure_accepting(stack, report));
    GW_TRY(ours, measure_throughput(stack, options, report));
  }
  add_references(ours, report);
  return report;
}

}  // namespace gw::bench
