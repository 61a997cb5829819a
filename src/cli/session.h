#pragma once
// One program run by the command line: from its start or an image, to its end or the next image.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "base/result.h"
#include "isolate/code_cache.h"
#include "isolate/isolate.h"

namespace gw::cli {

// When to suspend, and where to put the image. Without it the program runs to its end.
struct SuspendPlan {
  std::optional<std::chrono::milliseconds> after;
  std::optional<std::uint32_t> after_polls;  // modules with counter polls
  std::filesystem::path image;
  isolate::SaveOptions::Compression compression = isolate::SaveOptions::Compression::none;

  bool wanted() const { return after || after_polls; }
};

// Owns the engine and the isolate. The guest has its own pool thread; the calling thread waits for it; a timer thread asks it to stop.
class Session {
 public:
  static Result<std::unique_ptr<Session>> start(Bytes wasm, isolate::IsolateConfig config);
  static Result<std::unique_ptr<Session>> resume(const wire::Image& image, isolate::Limits limits);

  // Runs the program and returns the exit code of the command.
  Result<int> run(const SuspendPlan& plan);

 private:
  using Clock = std::chrono::steady_clock;

  Session() = default;
  Status load(Bytes wasm, isolate::CodeKind kind);
  isolate::IsolateHost host() { return {input_, output_, errors_, clock_, determinants_, chunks_}; }
  Status check(const SuspendPlan& plan) const;
  void suspend_at(Clock::time_point when, std::stop_token stop);
  // False: it is time to suspend.
  bool wait_for(const isolate::Wait& wait, std::optional<Clock::time_point> suspend_at);
  Result<int> save(const SuspendPlan& plan);

  std::unique_ptr<isolate::Engine> engine_;
  std::shared_ptr<const isolate::Module> module_;
  std::unique_ptr<isolate::PoolThread> thread_;
  isolate::FdInput input_{0};
  isolate::FdOutput output_{1};
  isolate::FdOutput errors_{2};
  isolate::SystemClock clock_;
  isolate::LiveDeterminants determinants_;
  isolate::NoChunks chunks_;
  std::unique_ptr<isolate::Isolate> isolate_;
};

}  // namespace gw::cli
