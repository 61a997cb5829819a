#pragma once
// The kernels against native code.

#include <memory>
#include <vector>

#include "command_run.h"
#include "guest_run.h"
#include "kernels.h"
#include "report.h"
#include "suites.h"

namespace gw::bench {

// Builds first, measures later: building forks, and must not happen once an engine has threads.
class KernelSpeed {
 public:
  static Result<KernelSpeed> build(const SuiteOptions& options);

  // Adds geometric means and maxima of the ratios, for each half and over all, and one ratio per kernel and form.
  Status measure(GuestRunner& runner, const CommandRunner& command, Report& report);

  // CPU seconds of the fastest run of each form.
  struct Times {
    double native, plain, coarse, fine;
    double command;  // fine, by `godwit run`
  };

 private:
  struct Subject {
    BuiltKernel built;
    std::shared_ptr<const isolate::Module> plain, coarse, fine;
    std::filesystem::path fine_file;
    Times best;
  };

  KernelSpeed(SuiteOptions options, os::TempDir natives) : options_(std::move(options)), natives_(std::move(natives)) {}

  Status load(GuestRunner& runner, const CommandRunner& command);
  static Status measure_round(GuestRunner& runner, const CommandRunner& command, Subject& subject);
  void summarise(Report& report) const;
  void list_kernels(Report& report) const;

  SuiteOptions options_;
  os::TempDir natives_;
  std::vector<Subject> subjects_;
};

}  // namespace gw::bench
