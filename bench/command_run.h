#pragma once
// Runs programs as users do: `godwit run`, with the worker in its cage.

#include <filesystem>

#include "guest_run.h"
#include "report.h"

namespace gw::bench {

// The `godwit` beside this program, with a cache of its own in which everything is there before something is measured.
class CommandRunner {
 public:
  static Result<CommandRunner> make();

  // Compiled code for a module that will be run.
  Status prepare(ByteView wasm) const;
  // CPU seconds of all processes of one run, without those that a program takes which does nothing.
  Result<RunCost> run(const std::filesystem::path& module) const;

  // Wall time of running hello world from its source, everything cached.
  Status measure_hello(Report& report);

 private:
  CommandRunner(os::TempDir folder, std::filesystem::path programs) : folder_(std::move(folder)), programs_(std::move(programs)) {}
  Result<RunCost> run_file(const std::filesystem::path& program) const;
  Status measure_nothing();

  os::TempDir folder_;
  std::filesystem::path programs_;  // the folder of godwit and godwit-worker
  double nothing_seconds_ = 0;      // CPU time of the command itself
};

}  // namespace gw::bench
