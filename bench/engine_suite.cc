#include "engine_costs.h"
#include "kernel_speed.h"
#include "suites.h"
#include "thread_costs.h"
#include "worker_tasks.h"

namespace gw::bench {

Result<Report> run_engine_suite(const SuiteOptions& options) {
  Report report{.suite = "engine"};
  GW_TRY(KernelSpeed speed, KernelSpeed::build(options));
  GW_TRY(const EngineCosts costs, EngineCosts::build(report));
  GW_TRY(const ThreadCosts threads, ThreadCosts::build());
  GW_TRY(CommandRunner command, CommandRunner::make());
  GW_TRY(GuestRunner runner, GuestRunner::make());
  GW_TRY_VOID(costs.measure(runner, report));
  GW_TRY_VOID(threads.measure(runner, report));
  GW_TRY_VOID(command.measure_hello(report));
  GW_TRY_VOID(speed.measure(runner, command, report));
  return report;
}

Result<Report> run_threads_suite(const SuiteOptions&) {
  Report report{.suite = "threads"};
  GW_TRY(const ThreadCosts threads, ThreadCosts::build());
  GW_TRY_VOID(measure_worker_tasks(report));
  GW_TRY(GuestRunner runner, GuestRunner::make());
  GW_TRY_VOID(threads.measure(runner, report));
  return report;
}

Result<Report> run_command_suite(const SuiteOptions&) {
  Report report{.suite = "command"};
  GW_TRY(CommandRunner command, CommandRunner::make());
  GW_TRY_VOID(command.measure_hello(report));
  return report;
}

}  // namespace gw::bench
