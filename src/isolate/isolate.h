#pragma once
// A running program that can be stopped anywhere, saved, and continued elsewhere.

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "isolate/determinants.h"
#include "isolate/engine/engine.h"
#include "isolate/engine/pool_thread.h"
#include "isolate/engine/wasm_engine.h"
#include "isolate/files/input_files.h"
#include "isolate/files/output_walk.h"
#include "isolate/fork_point.h"
#include "isolate/limits.h"
#include "isolate/module.h"
#include "isolate/run_control.h"
#include "isolate/stop.h"
#include "isolate/thread_host.h"
#include "isolate/wasi/clock_gate.h"
#include "isolate/wasi/stdio.h"
#include "isolate/wasi/wasi.h"
#include "wire/image/image.h"

namespace gw::isolate {

class MemoryHistory;
class MemorySnapshot;
struct ChangedPages;

// The configuration an isolate starts with.
struct IsolateConfig {
  std::vector<std::string> args;               // args[0] is the program's name
  std::vector<std::string> env;                // NAME=value
  Bytes stdin_bytes;                           // read before, and kept in the image unlike, what the input source has
  std::array<std::uint8_t, 32> random_seed{};  // of everything the guest draws from random_get
  std::vector<InputEntry> inputs;              // read-only files
  std::vector<std::string> outputs;            // paths to hand out at the end; with a slash behind it a directory, which is made
  std::optional<InputEntry> standard_input;    // a file instead of the input source
  Limits limits;
};

// The world outside, lent by the caller; outlives the isolate.
struct IsolateHost {
  InputSource& input;
  OutputSink& output;
  OutputSink& errors;
  HostClock& clock;
  Determinants& determinants;
  ChunkSource& chunks;
  ThreadHost& thread = LoneThread::instance();
};

struct ResumeOptions {
  // Modules with counter polls stop by themselves at the (n+1)-th poll.
  std::optional<std::uint32_t> polls;
};

struct SaveOptions {
  enum class Pages : std::uint8_t { all, changed };  // changed: since the last save, which must have been a tracked one
  enum class Track : std::uint8_t { no, yes };       // notice writes from now on, so that the next save can be `changed`
  enum class Compression : std::uint8_t { none, zstd };
  enum class IncludeModule : std::uint8_t { no, yes };
  Pages pages = Pages::all;
  Track track = Track::no;
  Compression compression = Compression::none;
  IncludeModule include_module = IncludeModule::no;
  Bytes job_state = {};  // of the layers above; goes into the image as it is
  // Where the encoded image goes; none: memory of this process.
  wire::MakeImageMemory make_memory = {};
};

struct RestoreFrom {
  const wire::Image& image;
  std::span<wire::BlobPack> packs = {};  // where nodes and pages are that the image lacks; each is let go when it has been used
  SaveOptions::Track track = SaveOptions::Track::no;  // the first save after it can be `changed`
};

// An instance of a module, pinned to its pool thread.
//
// Life: made suspended, nothing has run -> resume() runs it until it stops -> ... -> it exits, traps, reaches a limit or is terminated, and
// stays as it is until destroyed. It can be saved whenever it is stopped and can still be resumed.
//
// Threads: operations of the first group work on the pool thread; called from elsewhere (but no other pool thread) they are carried out
// there while the caller waits. Those of the second group act from any thread, at once, on a run in progress.
class Isolate final : private ImportHost {
 public:
  static Result<std::unique_ptr<Isolate>> make(Engine& engine, PoolThread& thread, std::shared_ptr<const Module> module,
                                               IsolateConfig config, IsolateHost host);
  // Continues from an image, which must be of this module. Arguments, environment, random state and unread stdin are those of the image.
  static Result<std::unique_ptr<Isolate>> restore(Engine& engine, PoolThread& thread, std::shared_ptr<const Module> module,
                                                  const RestoreFrom& from, Limits limits, IsolateHost host);
  // The child of a fork: goes on from the same point, and the call returns 0 in it.
  static Result<std::unique_ptr<Isolate>> make(Engine& engine, PoolThread& thread, const ForkPoint& point, IsolateHost host);
  // REQUIRES: not in a run.
  ~Isolate() override;
  Isolate(const Isolate&) = delete;
  Isolate& operator=(const Isolate&) = delete;

  // --- carried out on the pool thread ---

  // For an isolate that has ended it returns the last Stop again.
  Stop resume(ResumeOptions options = {});

  Result<wire::Image> save(SaveOptions options = {});

  // Forks a guest that is parked on ForkRequested; `child` is the id of the new thread, which its call will return. After a failure
  // it is parked as before.
  Result<ForkPoint> fork(std::uint64_t child);
  // The image that the child of such a guest begins with; the guest stays parked. Its pages are the guest's, so an image saved after it may
  // leave pages to it.
  Result<wire::Image> save_child(std::uint64_t child, SaveOptions options);
  // The child has this name: the guest's call returns. REQUIRES: as below.
  void answer_fork(std::uint64_t child);
  // The limit of threads is reached: the guest's call fails with EAGAIN. REQUIRES: the guest is parked on ForkRequested.
  void refuse_fork();

  // The state of an isolate that is stopped, and in which nothing is suspended: put_back() comes back to it, and make() makes others like
  // it. Its memory is shared with them from here on.
  Result<ForkPoint> freeze();
  // Makes everything be as at `point`, which was taken of this isolate or it was made from: the next resume() runs it again, with its
  // limits for itself. Costs what has changed since. False: the isolate trapped, reached a limit, was ended or forked, its memory has
  // grown, or the module is not restartable(); it is of no use then.
  bool put_back(const ForkPoint& point);
  // Another start than that of the configuration. Kind::invalid as for make(). REQUIRES: nothing has run since make() or put_back().
  Status set_start(GuestStart start);

  // The files that the guest has left at its declared outputs. The walk is used on the pool thread and goes before the isolate
  // runs again or is destroyed.
  OutputWalk outputs() { return {wasi_.files(), wasi_.saved_state().outputs}; }

  // --- any thread ---

  // Asks the run in progress to stop; one that has not begun stops at once. If no poll is reached within `patience` the watchdog pauses
  // it: state() says so, and the caller chooses between unpause() and terminate().
  void suspend(std::chrono::milliseconds patience = kSuspendPatience) { control_->suspend(patience); }
  // Holds the run in progress where it is, using no CPU, until unpause().
  void pause() { control_->pause(); }
  void unpause() { control_->unpause(); }
  // Ends the isolate; a run in progress stops with Terminated.
  void terminate() { control_->terminate(); }

  RunState state() const { return control_->state(); }
  // Returns when the state is not running any more, or the time is over.
  RunState wait_while_running(std::chrono::milliseconds timeout) const { return control_->wait_while_running(timeout); }

  const Module& module() const { return *module_; }
  const Limits& limits() const { return limits_; }
  std::uint32_t memory_pages() const;
  std::chrono::nanoseconds cpu_time() const { return control_->cpu_time(); }

 private:
  static constexpr const char* kStart = "_start";

  friend class ForkPoint;
  friend class TaskHost;

  // Everything of an isolate that is not in its memory.
  struct Core {
    wire::Phase phase = wire::Phase::fresh;
    std::uint32_t memory_pages = 0;  // 0: as the module says
    std::vector<wire::GlobalValue> globals;
    WasiState wasi;
  };
  // Brings the memory of a new instance, which has its full size already, into the state wanted.
  using FillMemory = std::function<Status(WasmInstance& instance)>;

  Isolate(Engine& engine, PoolThread& thread, std::shared_ptr<const Module> module, Limits limits, IsolateHost host, const Core& core);
  static Result<std::unique_ptr<Isolate>> make_from(Engine& engine, PoolThread& thread, std::shared_ptr<const Module> module, Limits limits,
                                                    IsolateHost host, const Core& core, const FillMemory& fill);
  Status instantiate(const Core& core, const FillMemory& fill);
  Status check_core(const Core& core) const;
  Result<Core> core();
  Result<std::vector<wire::GlobalValue>> globals();

  CallResult on_import(const HostImport& import, GuestMemory memory, const std::uint64_t* args) override;
  void on_interrupt() override;
  CallResult unwind(Stop reason);
  void note_throw(ThrowMark mark);
  CallResult end(Stop stop);
  bool wait_in_place(const Wait& wait);

  // Calls another export than `_start`, to its end; the isolate stays when it returns: nullopt. REQUIRES: nothing is suspended in it.
  std::optional<Stop> call_export(const char* name);
  Stop run(const ResumeOptions& options);
  bool returned_from_export(const Stop& stop) const;
  Status prepare(const ResumeOptions& options);
  Stop stop_of(const CallOutcome& outcome);
  Stop stop_after_return();
  bool stack_pointer_is_outside() const;
  Stop end_stop() const;
  Status set_i32(std::string_view name, std::uint32_t value);

  Result<wire::Image> save_here(const SaveOptions& options, const WasiState& state);
  Result<ForkPoint> fork_here(std::uint64_t child);
  Result<ForkPoint> freeze_here();
  bool put_back_here(const ForkPoint& point);
  Result<ForkPoint> fork_point();
  Status take_snapshot(std::span<std::uint8_t> memory);
  Status follow_writes_anew(std::span<std::uint8_t> memory);
  Result<ChangedPages> pages_to_save(const SaveOptions& options, std::unique_ptr<MemoryHistory>& history);

  Engine& engine_;
  PoolThread& thread_;
  const std::shared_ptr<const Module> module_;  // shared with other isolates of the program
  const Limits limits_;
  wire::Phase phase_;
  IsolateHost host_;
  ClockGate clock_;
  Wasi wasi_;
  std::unique_ptr<WasmInstance> instance_;
  std::unique_ptr<RunControl> control_;
  std::unique_ptr<MemoryHistory> history_;          // null: writes are not tracked
  std::shared_ptr<const MemorySnapshot> snapshot_;  // what the memory is mapped from, also that of its forks; null: it never forked
  const char* entry_ = kStart;                      // the export that a run calls
  std::optional<Stop> unwinding_for_;               // set while a host call makes the guest unwind
  std::optional<Stop> ended_;                       // how a host call has ended the guest
  std::optional<Stop> last_stop_;                   // none: it has never run
  std::vector<CodePosition> throw_frames_;          // of the last exception, if the guest marks them
  bool uncaught_ = false;                           // the guest ends because of that one
  std::string limit_backtrace_;                     // where the guest was when it reached a limit, if that could be seen
};

}  // namespace gw::isolate
