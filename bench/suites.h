#pragma once
// The suites of godwit-bench.

#include <vector>

#include "base/result.h"
#include "kernels.h"
#include "report.h"

namespace gw::bench {

struct SuiteOptions {
  std::vector<Half> halves = {Half::tuning, Half::held_out};  // use tuning alone when you tune the pre-processor
  unsigned runs = 5;                                          // of each form of each kernel; the fastest counts
  enum class Length { full, quick };
  Length length = Length::full;  // quick: of tasks and efficiency, shorter runs, for a first look
};

// Speed of the kernels against native code, and what isolates cost.
Result<Report> run_engine_suite(const SuiteOptions& options);

// The parts of it that are about forks and tasks, and about starting a program.
Result<Report> run_threads_suite(const SuiteOptions& options);
Result<Report> run_command_suite(const SuiteOptions& options);

// How fast isolates stop, are saved and are restored.
Result<Report> run_mobility_suite(const SuiteOptions& options);

// Peers that know each other, beside agents of serf; and what only the simulator can show, thousands of them, which is also a suite alone.
Result<Report> run_overlay_suite(const SuiteOptions& options);
Result<Report> run_simulation_suite(const SuiteOptions& options);

// A file for all hosts of a job, and many small ones, through slow uplinks.
Result<Report> run_swarm_suite(const SuiteOptions& options);

// A connection between two peers, beside bare TLS.
Result<Report> run_transport_suite(const SuiteOptions& options);

// Tasks through one home on two peers, beside Dask, GNU parallel and gearman.
Result<Report> run_tasks_suite(const SuiteOptions& options);

// The efficiency of a job on two, three and four unequal peers, by the formula of seed 001, beside Dask on the same peers.
Result<Report> run_efficiency_suite(const SuiteOptions& options);

}  // namespace gw::bench
