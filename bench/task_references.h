#pragma once
// Other systems that run tasks, as Debian has them: what Godwit is compared with.

#include <string>
#include <vector>

#include "base/result.h"

namespace gw::bench {

struct DaskFigures {
  double tasks_per_s = 0;
  double latency_ms_p50 = 0, latency_ms_p99 = 0;  // of one task at a time
};

// In the network of loopback.h. Each fails with Kind::not_found if its package is not installed (tools/setup --bench).

// python3-distributed: a scheduler and two worker processes of one thread each; functions that do nothing.
Result<DaskFigures> measure_dask();
// parallel: two jobs at a time, each a process that does nothing.
Result<double> measure_parallel();
// gearman-job-server: two workers and two clients; jobs that do nothing in the process of the worker.
Result<double> measure_gearman();

// Seconds that Dask needs for `tasks` runs of a native program with this argument, on workers that each have the words before them.
struct DaskJob {
  std::vector<std::vector<std::string>> machines;  // words that enter each
  std::string program;
  std::string argument;
  unsigned tasks = 0;
};
Result<double> run_dask_job(const DaskJob& job);

}  // namespace gw::bench
