#pragma once
// WASI preview 1, the half that needs no files: arguments, environment, standard streams, clocks, random numbers, sleeping, exit.

#include <cstdint>
#include <optional>
#include <span>

#include "isolate/clock_gate.h"
#include "isolate/guest_memory.h"
#include "isolate/limits.h"
#include "isolate/stdio.h"
#include "isolate/stop.h"
#include "isolate/thread_host.h"
#include "isolate/wasi_state.h"

namespace gw::isolate {

// The numbers WASI gives them.
enum class Errno : std::uint16_t {
  success = 0,
  again = 6,
  badf = 8,
  fault = 21,
  inval = 28,
  io = 29,
  nosys = 52,
  notdir = 54,
  notsock = 57,
  notsup = 58,
  spipe = 70,
};

// What happens to the guest after a host call.
enum class After : std::uint8_t {
  proceed,  // it gets the code
  park,     // it must wait: call again later with the same arguments (Wasi::waiting() says for what)
  end,      // it has ended (Wasi::ending() says how)
};

struct CallResult {
  Errno code = Errno::success;
  After after = After::proceed;

  CallResult(Errno answer) : code(answer) {}
  CallResult(After next) : after(next) {}
};

// The calls, written against a checked view of guest memory, without any engine. Addresses and lengths are the guest's and may be anything.
//
// A call that parks has changed nothing but `state().parked` and what belongs to it, so that it can be repeated, here or after a move.
// Belongs to the isolate's pool thread.
class Wasi {
 public:
  struct Streams {
    InputSource& input;
    OutputSink& output;
    OutputSink& errors;
    ThreadHost& thread = LoneThread::instance();
  };

  Wasi(WasiState state, Streams streams, ClockGate& clock, Determinants& determinants, std::uint64_t max_output);

  CallResult args_sizes_get(GuestMemory memory, std::uint32_t count, std::uint32_t size);
  CallResult args_get(GuestMemory memory, std::uint32_t list, std::uint32_t text);
  CallResult environ_sizes_get(GuestMemory memory, std::uint32_t count, std::uint32_t size);
  CallResult environ_get(GuestMemory memory, std::uint32_t list, std::uint32_t text);
  CallResult clock_res_get(GuestMemory memory, std::uint32_t clock, std::uint32_t out);
  CallResult clock_time_get(GuestMemory memory, std::uint32_t clock, std::uint64_t precision, std::uint32_t out);
  CallResult random_get(GuestMemory memory, std::uint32_t address, std::uint32_t length);
  CallResult proc_exit(GuestMemory memory, std::uint32_t code);
  CallResult sched_yield(GuestMemory memory);
  CallResult checkpoint(GuestMemory memory);
  CallResult fork(GuestMemory memory, std::uint32_t child);
  CallResult report(GuestMemory memory, std::uint32_t address, std::uint32_t length);
  CallResult thread_id(GuestMemory memory, std::uint32_t out);
  CallResult poll_oneoff(GuestMemory memory, std::uint32_t in, std::uint32_t out, std::uint32_t count, std::uint32_t stored);

  CallResult fd_close(GuestMemory memory, std::uint32_t fd);
  CallResult fd_fdstat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t out);
  CallResult fd_filestat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t out);
  CallResult fd_read(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint32_t done);
  CallResult fd_write(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint32_t done);

  // A standard stream the guest has not closed.
  bool is_open(std::uint32_t fd) const { return fd < kStdioCount && (state_.closed >> fd & 1) == 0; }

  // After a call that parked.
  Wait waiting() const;
  // After a call that ended the guest.
  const Stop& ending() const {
    GW_ASSERT(ending_.has_value());
    return *ending_;
  }

  // Parked in fork(), which then returns as answered.
  bool wants_fork() const { return state_.parked == ParkedCall::fork; }
  void answer_fork(std::uint64_t child);
  void refuse_fork();

  // As it goes into an image: with the time of the guest's clock.
  WasiState saved_state();

 private:
  struct Subscription;
  class EventWriter;
  enum class Input : std::uint8_t { ready, ended, not_yet, failed };

  Input look_for_input();
  // now: its events are added. later: it must be waited for. not_yet: the call may end without. never: it does.
  enum class Ready : std::uint8_t { now, later, not_yet, never };
  // Without input the call can end, or has to wait for it.
  enum class Otherwise : std::uint8_t { ends, waits };

  bool add_certain_event(const Subscription& subscription, EventWriter& events);
  CallResult wait_for_events(std::span<const Subscription> clocks, std::span<const Subscription> inputs, EventWriter& events);
  Result<Ready> input_ready(std::span<const Subscription> inputs, EventWriter& events, Otherwise otherwise);
  Result<std::uint64_t> sleep_deadline(const Subscription& subscription);
  Result<Ready> choose(Ready ready);
  Status choose_sleeper(std::span<const Subscription> list);
  CallResult park(ParkedCall call) {
    if (call != ParkedCall::sleep) unpark();
    state_.parked = call;
    return After::park;
  }
  void unpark() {
    state_.parked = ParkedCall::none;
    state_.deadline = 0;
    state_.sleeper = 0;
  }
  CallResult end(Stop stop) {
    ending_ = std::move(stop);
    return After::end;
  }
  CallResult host_failure(const Error& error) { return end(Trapped{TrapKind::host_failure, "", error.detail}); }

  WasiState state_;
  Streams streams_;
  ClockGate& clock_;
  Determinants& determinants_;
  std::uint64_t max_output_;
  bool input_ends_sleep_ = false;
  std::optional<Stop> ending_;
};

}  // namespace gw::isolate
