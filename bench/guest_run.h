#pragma once
// Runs one guest to its end and says what it cost.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "isolate/engine/code_cache.h"
#include "isolate/engine/engine.h"
#include "isolate/isolate.h"
#include "os/files/file.h"
#include "os/process/process.h"

namespace gw::bench {

struct RunCost {
  double cpu_seconds = 0;
  std::string output;  // must be the same in every form of a kernel
};

// CPU time of the process and of those it has waited for. Fails unless it exits with 0.
Result<RunCost> run_command(const os::ProcessRequest& request);
Result<RunCost> run_native(const std::filesystem::path& program);

// An engine with one pool thread. Starts threads: everything is built before one is made.
class GuestRunner {
 public:
  static Result<GuestRunner> make();

  Result<std::shared_ptr<const isolate::Module>> load(Bytes wasm);
  // A new isolate that is run to its end; fails unless it exits with 0.
  Result<RunCost> run(const std::shared_ptr<const isolate::Module>& module, const std::vector<std::string>& args);

  isolate::Engine& engine() { return *engine_; }
  isolate::PoolThread& thread() { return *thread_; }

 private:
  GuestRunner(os::TempDir cache, std::unique_ptr<isolate::Engine> engine, std::unique_ptr<isolate::PoolThread> thread)
      : cache_(std::move(cache)), engine_(std::move(engine)), thread_(std::move(thread)) {}

  os::TempDir cache_;  // of compiled code: a measurement never depends on an earlier one
  std::unique_ptr<isolate::Engine> engine_;
  std::unique_ptr<isolate::PoolThread> thread_;
};

// This program as the compile-only process of an engine (main.cc dispatches to it).
std::vector<std::string> compiler_command();

// The module, of which the hash is known, with all of its code compiled before.
Result<std::shared_ptr<const isolate::Module>> load_compiled(isolate::Engine& engine, const std::filesystem::path& cache_root,
                                                             const Hash256& hash, Bytes wasm, isolate::CodeKind kind);

}  // namespace gw::bench
