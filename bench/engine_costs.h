#pragma once
// Costs of isolates besides running: to build, load, start, keep and leave for the host.

#include "guest_run.h"
#include "report.h"

namespace gw::bench {

// Builds first, measures later, as KernelSpeed.
class EngineCosts {
 public:
  // Also measures the pre-processor, which is a part of building.
  static Result<EngineCosts> build(Report& report);

  Status measure(GuestRunner& runner, Report& report) const;

 private:
  EngineCosts() = default;

  Status measure_loading(Report& report) const;
  Status measure_starting(GuestRunner& runner, Report& report) const;
  Status measure_idling(GuestRunner& runner, Report& report) const;
  Status measure_host_calls(GuestRunner& runner, Report& report) const;

  Bytes large_fine_;  // the 300 KB module
  Bytes small_fine_;  // a kernel, as an example of a small module
  Bytes host_calls_;
};

}  // namespace gw::bench
