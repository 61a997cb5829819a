#pragma once
// Why a run of an isolate came to its end.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/hash.h"
#include "isolate/limits.h"
#include "isolate/thread_host.h"

namespace gw::isolate {

// The isolate stopped on request, at a poll or in a host call. resume() goes on from there.
struct Suspended {};

// The reasons for which an isolate is parked.
struct SleepUntil {
  std::chrono::nanoseconds deadline;  // on the host's monotonic clock
  bool input_too = false;             // input ends the sleep as well
};
struct AwaitInput {};     // its input source had nothing yet
struct AtCheckpoint {};   // it called godwit.checkpoint(): a good moment to save
struct ForkRequested {};  // it called godwit.fork(): the owner calls Isolate::fork() or refuse_fork()
struct AwaitChunk {       // a part of an input file is not here yet
  Hash256 hash;
};
struct AwaitRoom {  // its owner has no room for what the call would put there
  Outlet outlet;
};
struct AwaitMail {                                   // its mailbox has no item that it has not taken
  std::optional<std::chrono::nanoseconds> deadline;  // on the host's monotonic clock, if the call ends without one
};
using Wait = std::variant<SleepUntil, AwaitInput, AtCheckpoint, ForkRequested, AwaitChunk, AwaitRoom, AwaitMail>;

// The isolate waits without holding a thread. An early resume() parks it again for the same reason.
struct Parked {
  Wait on;
};

struct Exited {
  std::uint32_t code = 0;
  std::string backtrace;  // as in Trapped, if the code says that a signal ended the program: 128 + SIGABRT and the like
};

enum class TrapKind : std::uint8_t {
  unreachable,
  memory_out_of_bounds,
  table_out_of_bounds,
  indirect_call_mismatch,
  divide_by_zero,
  integer_overflow,
  invalid_float_conversion,
  stack_overflow,         // of the engine: calls too deep
  memory_stack_overflow,  // of the stack that the program keeps in its memory: locals too large, or calls too deep
  host_failure,           // a host function could not do its work
  other,
};

std::string_view name(TrapKind kind);

// The guest broke a rule of the machine. Its state is kept for inspection, it cannot be resumed.
struct Trapped {
  TrapKind kind = TrapKind::other;
  std::string function;   // innermost guest function: demangled name, or "function[12]" in a module without names; may be empty
  std::string message;    // of the engine
  std::string backtrace;  // the lines of backtrace.h; may be empty
};

struct LimitReached {
  LimitKind which;
  std::string sentence;
  std::string backtrace;  // as in Trapped: where it was at about that time
};

// Isolate::terminate() ended it.
struct Terminated {};

using Stop = std::variant<Suspended, Parked, Exited, Trapped, LimitReached, Terminated>;

// True for the stops after which resume() goes on.
bool can_resume(const Stop& stop);

// A sentence without a full stop: "exited with code 3", "trapped in sort(int*): integer divide by zero".
std::string describe(const Stop& stop);
// The sentence and the backtrace behind it. Empty for an exit without a backtrace.
std::string explain(const Stop& stop);
// "SIGABRT" for 134: the signals that end a program because of an error in it. Empty for other exit codes.
std::string_view fatal_signal(std::uint32_t exit_code);

}  // namespace gw::isolate
