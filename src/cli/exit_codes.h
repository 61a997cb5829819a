#pragma once
// The exit codes of `godwit`, besides those of the program that `run` and `resume` pass through. The one list: help, man pages and
// docs/user-guide.md are made from it or checked against it.

#include <array>
#include <string_view>

#include "base/result.h"

namespace gw::cli {

enum class ExitCode : int {
  ok = 0,
  failed = 1,
  usage = 2,
  limit = 5,
  suspended = 75,  // EX_TEMPFAIL of sysexits.h: not an error, try again later
  interrupted = 130,
};

struct ExitCodeEntry {
  ExitCode code;
  std::string_view name;
  std::string_view meaning;
};

inline constexpr std::array<ExitCodeEntry, 6> kExitCodes{{
    {ExitCode::ok, "ok", "success"},
    {ExitCode::failed, "failed", "the command failed: the program trapped, or the system refused something"},
    {ExitCode::usage, "usage", "the command line, a file or a setting is wrong; no program was run"},
    {ExitCode::limit, "limit", "the program reached its memory, time or output limit"},
    {ExitCode::suspended, "suspended", "the program was suspended by --suspend-after and can be resumed"},
    {ExitCode::interrupted, "interrupted", "Ctrl-C or SIGTERM; the program can be resumed if an image was written"},
}};

// The exit code of a command that fails with an error of this kind.
constexpr ExitCode exit_code_of(Kind kind) {
  switch (kind) {
    case Kind::invalid:
    case Kind::not_found:
    case Kind::corrupt:
    case Kind::unsupported:
      return ExitCode::usage;
    case Kind::timeout:
    case Kind::overloaded:
      return ExitCode::limit;
    case Kind::guest_fault:
    case Kind::disconnected:
    case Kind::internal:
      return ExitCode::failed;
  }
  return ExitCode::failed;
}

}  // namespace gw::cli
