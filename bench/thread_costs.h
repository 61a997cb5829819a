#pragma once
// Costs of virtual threads and tasks: forking a warm program, calling a function in a warm isolate.

#include "guest_run.h"
#include "report.h"

namespace gw::bench {

// Builds first, measures later, as KernelSpeed.
class ThreadCosts {
 public:
  static Result<ThreadCosts> build();

  Status measure(GuestRunner& runner, Report& report) const;

 private:
  ThreadCosts() = default;

  Status measure_fork(GuestRunner& runner, Report& report) const;
  Status measure_tasks(GuestRunner& runner, Report& report) const;
  Status measure_main(GuestRunner& runner, Report& report) const;

  Bytes fork_search_, noop_task_, noop_main_;
};

}  // namespace gw::bench
