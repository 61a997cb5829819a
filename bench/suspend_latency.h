#pragma once
// The time from the request to stop until the guest has left its stack.

#include <vector>

#include "guest_run.h"
#include "kernels.h"
#include "report.h"
#include "suites.h"

namespace gw::bench {

// Builds first, measures later, as KernelSpeed.
class SuspendLatency {
 public:
  static Result<SuspendLatency> build(const SuiteOptions& options);

  // Suspends every kernel at random moments. Adds median, 99th percentile and maximum over all, and the maximum of each kernel.
  Status measure(GuestRunner& runner, Report& report) const;

 private:
  struct Subject {
    Kernel kernel;
    Bytes fine;
  };

  SuspendLatency() = default;

  std::vector<Subject> subjects_;
};

}  // namespace gw::bench
