#pragma once
// The part of an isolate that other threads may touch while it runs.

#include <time.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <variant>

#include "isolate/limits.h"
#include "isolate/stop.h"
#include "wire/wasm/module_info.h"

namespace gw::isolate {

class WasmHeap;
class WasmInstance;

enum class RunState : std::uint8_t {
  stopped,  // resume() will run it
  running,
  paused,  // in the middle of a run, held by pause() or because it did not heed suspend()
  ended,   // never runs again
};

// How long a guest may take to reach a poll before it is paused.
inline constexpr std::chrono::milliseconds kSuspendPatience{100};

// Requests to one isolate and its progress. The poll cell, the engine's interrupts and terminations are touched only between begin_run()
// and end_run(), under the lock: a request that comes late can never hit an image being saved, or the next guest on the same thread.
//
// Any thread, except where said. `Target` outlives it.
class RunControl {
 public:
  struct Target {
    WasmHeap& heap;
    WasmInstance& instance;
    const wire::ModuleInfo& info;
    clockid_t cpu_clock;  // of the pool thread
  };
  // Why an isolate was ended from outside.
  using EndReason = std::variant<Terminated, LimitKind>;

  RunControl(Target target, const Limits& limits) : target_(target), limits_(limits) {}

  void suspend(std::chrono::milliseconds patience);
  void pause();
  void unpause();
  void terminate() { end(Terminated{}); }

  RunState state() const;
  RunState wait_while_running(std::chrono::milliseconds timeout) const;
  std::chrono::nanoseconds cpu_time() const;
  std::optional<EndReason> end_reason() const;
  // A request to stop is waiting to be noticed.
  bool suspend_requested() const;

  // Called by the watchdog during a run.
  void on_tick(std::chrono::nanoseconds now);

  // --- the pool thread only ---

  enum class Begin : std::uint8_t { go, suspended, ended };
  // suspended: a request came before the run, which is thereby answered.
  Begin begin_run();
  // A run from the beginning may follow, and limits of time count from there. False: the isolate was ended from outside. REQUIRES: not
  // in a run.
  bool renew();
  // `next` is stopped or ended; a reason to end that has come meanwhile wins.
  RunState end_run(RunState next);

  // Inside an interrupt: what it was for.
  bool take_counter_request();
  // Whether the guest is about to end at a limit, and its frames are to be noted. Once.
  bool take_trace_request();
  void hold_while_paused();
  // Blocks a guest that cannot park, until `deadline` or until it is to end. False: it is to end.
  bool wait_in_place(std::chrono::nanoseconds deadline);

 private:
  void end(EndReason reason);
  void end_locked(EndReason reason);
  void hold_locked(std::unique_lock<std::mutex>& lock);
  void store_poll_cell(std::uint32_t value);
  std::chrono::nanoseconds cpu_time_locked() const;
  std::optional<LimitKind> limit_reached(std::chrono::nanoseconds now) const;
  bool in_run() const { return state_ == RunState::running || state_ == RunState::paused; }

  const Target target_;
  const Limits limits_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // All guarded by mutex_.
  RunState state_ = RunState::stopped;
  bool suspend_requested_ = false;
  bool counter_requested_ = false;  // the suspend request still has to reach the counter
  bool trace_requested_ = false;    // the guest is to note its frames, because it has reached a limit
  bool hold_ = false;
  std::optional<std::chrono::nanoseconds> patience_ends_;
  std::optional<std::chrono::nanoseconds> trace_deadline_;  // none: no limit is reached
  std::optional<EndReason> end_reason_;
  std::optional<std::chrono::nanoseconds> first_start_;
  std::chrono::nanoseconds cpu_used_{0};   // in earlier runs
  std::chrono::nanoseconds cpu_start_{0};  // of the thread, when this run began
};

}  // namespace gw::isolate
