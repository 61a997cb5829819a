#pragma once
// A parent for tests: starts a worker, answers it as home would, and keeps what it says.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "node/worker/worker_process.h"
#include "wire/messages/streams.h"
#include "wire/wasm/module_info.h"

namespace gw::test {

// The path of godwit-worker.
std::filesystem::path worker_program();

// The mobile module of tests/guests/<name>.c.
Bytes build_guest(const std::string& name, wire::Level level = wire::Level::fine);

// Acknowledges effects and determinants as they come, unless told not to; restores no children by itself. Waits are bounded: a test
// fails when what it waits for has not come after five minutes.
class WorkerDriver {
 public:
  struct Options {
    node::WorkerLimits limits;
    wire::pb::Limits guest_limits;
    unsigned pool_threads = 1;
    bool keep_images = false;
    std::uint32_t determinants_after_image = 0;
    bool acknowledge = true;        // effects and determinants
    std::set<wire::Stream> silent;  // streams of which nothing is acknowledged
    std::string program;            // empty: godwit-worker
  };

  explicit WorkerDriver(Options options);
  WorkerDriver() : WorkerDriver(Options()) {}

  void load(ByteView wasm);
  void start(std::uint64_t thread, std::vector<std::string> args = {"guest"}, std::vector<std::string> outputs = {});
  // The state that an earlier epoch has left.
  struct Before {
    std::uint64_t epoch = 2;  // the epoch that begins
    std::vector<wire::pb::Determinant> determinants;
    wire::StreamMarks stored;
  };
  void start_again(std::uint64_t thread, std::vector<std::string> args, const Before& before);
  void start_tasks(std::uint64_t thread);
  void restore(std::uint64_t thread, std::uint64_t epoch, const os::SealedMemory& image);
  // The tasks of an array.
  void setup_tasks(std::uint32_t tasks, std::chrono::nanoseconds promote_after, wire::pb::ThreadConfig config);
  void run_tasks(std::uint32_t first, std::uint32_t count);
  void drop_tasks(std::uint32_t first, std::uint32_t count);
  void adopt(std::uint64_t thread);
  void send(const wire::pb::ToWorker& frame) { (void)worker->send(frame); }
  enum class Ask : std::uint8_t { suspend, checkpoint, terminate, drop };
  void ask(Ask what, std::uint64_t thread);
  void input(std::uint64_t thread, std::uint64_t piece, const std::string& bytes);  // empty: the end

  // Handles what comes until `done` says so or the worker has died. False: neither happened in time.
  bool run_until(const std::function<bool()>& done);
  bool run_until_death();
  bool run_to_end(std::uint64_t thread = 1);

  // The End effect of a thread, null if there was none.
  const wire::pb::Effect::End* end_of(std::uint64_t thread = 1) const;
  std::string output(std::uint64_t thread = 1, std::uint32_t descriptor = 1) const;
  std::vector<wire::pb::Determinant> determinants(std::uint64_t thread = 1) const;
  node::DeathCause cause() const { return worker->death() ? worker->death()->cause : node::DeathCause::finished; }

  std::unique_ptr<node::WorkerProcess> worker;
  std::vector<wire::pb::Effect> effects;
  std::vector<node::WorkerProcess::Received> images;
  std::vector<wire::pb::FromWorker> other;  // every frame that is neither effects, results nor an image
  std::size_t loaded = 0, failed = 0, stopped = 0, wanted_inputs = 0;
  std::size_t early_spawns = 0;  // that came before the image of their child
  std::vector<wire::pb::TaskResult> results;
  std::size_t result_frames = 0;
  std::vector<std::uint32_t> promoted;  // tasks

 private:
  void on_frame(node::WorkerProcess::Received received);
  bool has_image_of(const wire::pb::Effect& spawn) const;

  Options options_;
  std::uint64_t children_ = 0;  // that were spawned; none of them ends for the worker
};

}  // namespace gw::test
