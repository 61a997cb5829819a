#pragma once
// What a program costs after it was moved, against the same program left alone: the frames that were rebuilt must not stay slow.

#include <string>
#include <vector>

#include "guest_run.h"
#include "kernels.h"
#include "report.h"
#include "suites.h"

namespace gw::bench {

// Builds first, measures later, as KernelSpeed.
class MovedSpeed {
 public:
  static Result<MovedSpeed> build(const SuiteOptions& options);

  // Suspends and resumes every kernel, and an interpreter, five times soon after its start. Adds geometric mean and maximum of the ratios,
  // and the ratio of each.
  Status measure(GuestRunner& runner, Report& report) const;

 private:
  struct Subject {
    std::string name;
    Bytes fine;
  };

  MovedSpeed() = default;

  unsigned runs_ = 1;
  std::vector<Subject> subjects_;
};

}  // namespace gw::bench
