#pragma once
// One job on this machine: a worker process, and home in this one.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "job/effect_ledger.h"
#include "node/disk/journal.h"
#include "node/jobs/effect_delivery.h"
#include "node/jobs/job_files.h"
#include "node/worker/native_code.h"
#include "node/worker/worker_process.h"
#include "wire/image.h"

namespace gw::node {

// What a person may want to see while a job runs. On the thread of run().
class JobObserver : public EffectDelivery::Observer {
 public:
  struct Checkpoint {
    std::uint64_t number;  // 1, 2, ... of this command
    std::uint64_t bytes;   // of the journal now
  };
  virtual void on_started() {}  // the worker has loaded the program
  virtual void on_checkpoint(const Checkpoint&) {}
  virtual void on_forked(job::ThreadId /*parent*/, job::ThreadId /*child*/) {}
};

// How a job came to its end, or to a stop.
struct JobEnded {
  wire::pb::Effect::End main;
  std::uint64_t failed_children = 0;
};
struct JobSuspended {
  std::filesystem::path file;  // resume it from there
  std::uint64_t bytes = 0;
};
struct JobStopped {};  // request_stop()
struct JobOutcome {
  std::variant<JobEnded, JobSuspended, JobStopped> how;
  std::uint64_t threads = 1;
  std::uint64_t checkpoints = 0;
  std::chrono::nanoseconds cpu_time{0};  // of threads that have ended
  bool output_lost = false;              // nobody read standard output to its end
};

// Home of one job, on the caller's thread, around one worker process. Effects pass the ledger once and are delivered; with a journal
// everything is written down first, so that a job whose processes were all killed goes on (docs/design/001-effects.md).
//
// Made, then run() once. request_*() may come from any thread or a signal handler, at any time. Limits: those of the gates, frames, journal
// and WorkerProcess.
class LocalJob {
 public:
  struct Config {
    std::filesystem::path worker;  // its executable
    const NativeCode& code;
    JobObserver& observer;
    std::filesystem::path input_file = {};  // its standard input; empty: as before, at the start `input`
    int input = 0;                          // descriptors of this process
    int output = 1;
    int errors = 2;
    unsigned pool_threads = 1;
    std::filesystem::path suspend_to;  // where request_suspend() puts the image of a job without a journal
    std::optional<std::chrono::milliseconds> suspend_after;
    std::optional<std::uint32_t> suspend_after_polls;  // of the main thread; modules with counter polls
    wire::Storage image_pages = wire::Storage::raw;    // of the suspended image: plain or compressed
  };

  // From the beginning. With `journal` the job is written down there, and checkpointed as the spec says.
  static Result<std::unique_ptr<LocalJob>> start(const Config& config, wire::pb::JobSpec spec, Bytes module,
                                                 const std::optional<std::filesystem::path>& journal);
  // From the image of a suspended job, which contains its module.
  static Result<std::unique_ptr<LocalJob>> resume(const Config& config, const wire::Image& image, const wire::pb::Limits& limits);
  // From a journal: whatever happened to the processes that wrote it.
  static Result<std::unique_ptr<LocalJob>> recover(const Config& config, const std::filesystem::path& journal);
  ~LocalJob();

  Result<JobOutcome> run();

  void request_suspend();
  void request_stop();

 private:
  using Time = WorkerProcess::Time;
  struct Thread {
    bool checkpointing = false;
    std::optional<wire::Image> suspended;
  };

  LocalJob(const Config& config, wire::pb::JobSpec spec, Bytes module);

  // Whether the worker keeps track of changes and saves an image at each fork.
  enum class Images : std::uint8_t { none, keep };

  // Beginnings.
  Status open_files();
  Status open_input(std::uint64_t taken);
  Status start_worker(isolate::CodeKind code, Images images);
  Status send_start();
  Status send_restore(job::ThreadId thread, std::uint64_t epoch, const wire::Image& image,
                      const std::deque<job::Determinant>& determinants);
  Status take_old_effects();

  // The loop.
  Status wait_and_handle();
  Status handle_requests();
  Status handle_timers();
  Status hear_worker();
  Status finish_turn();
  Status acknowledge();
  bool wants_input() const;
  int input() const { return input_file_ ? input_file_.get() : config_.input; }
  Status read_input();
  Time next_deadline() const;
  bool finished() const;

  // Frames of the worker.
  Status on_frame(WorkerProcess::Received received);
  Status on_effect(const job::Effect& effect);
  Status on_determinants(const wire::pb::FromWorker::Determinants& frame);
  Status on_want_chunk(const wire::pb::FromWorker::WantChunk& frame);
  Status on_want_input(const wire::pb::FromWorker::WantInput& frame);
  Status send_input(job::ThreadId thread, const Journal::Input& input);
  Status on_image(const wire::pb::FromWorker::Image& frame, const os::SealedMemory& memory);
  void note_end(const job::Effect& effect);
  Error lost_worker() const;

  // Stops.
  Status begin_suspend();
  Status send_checkpoints();
  Result<JobSuspended> write_suspended();
  Status tell(const wire::pb::ToWorker& frame);
  Status send_to_thread(job::ThreadId thread, wire::pb::ToWorker::KindCase kind);
  Result<JobOutcome> outcome();

  const Config config_;
  wire::pb::JobSpec spec_;
  Bytes module_;
  const Hash256 module_hash_;
  std::optional<Journal> journal_;
  job::EffectLedger memory_;  // of a job without a journal
  const job::EffectLedger& ledger() const { return journal_ ? journal_->ledger() : memory_; }
  os::UniqueFd input_file_;
  std::optional<InputFiles> inputs_;
  std::optional<OutputFiles> outputs_;
  std::optional<EffectDelivery> delivery_;
  std::unique_ptr<WorkerProcess> worker_;  // null: a journal whose threads have all ended
  isolate::CodeKind code_kind_ = isolate::CodeKind::start;
  os::UniqueFd wake_;  // eventfd: somebody asked for something

  std::map<job::ThreadId, Thread> threads_;  // alive
  std::optional<job::Effect> main_end_;
  bool outputs_placed_ = false;
  std::uint64_t failed_children_ = 0;
  std::vector<job::Effect> fresh_;                     // accepted in this turn, delivered when they are stable
  std::map<job::ThreadId, std::uint64_t> delivered_;   // the last effect of each
  std::map<job::ThreadId, std::uint64_t> duplicates_;  // to acknowledge again
  std::map<job::ThreadId, std::uint64_t> determinants_to_acknowledge_;
  std::map<job::ThreadId, std::string> images_to_acknowledge_;

  std::optional<std::uint64_t> wanted_piece_;  // the main thread waits for this piece of input
  Journal::Input last_input_;                  // that was read
  std::uint64_t next_piece_ = 0;
  bool input_ended_ = false;

  enum class Stage : std::uint8_t { running, suspending, stopping };
  Stage stage_ = Stage::running;
  std::optional<Time> drain_by_;  // it has, and output is still on its way
  std::optional<Time> checkpoint_at_;
  std::optional<Time> suspend_at_;
  JobOutcome result_;
};

}  // namespace gw::node
