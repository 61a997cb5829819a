#pragma once
// A process that was started and goes on beside us.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/files/unique_fd.h"

namespace gw::os {

// How a process ended.
struct ExitStatus {
  int exit_code = 0;  // meaningful if signal is 0
  int signal = 0;     // that ended it, 0 if it exited
};

// Held by a descriptor of the process itself, so that no signal can hit another one that got its number. Killed and reaped with the object,
// unless it was left to itself. One thread at a time; it must be one that lives as long as the child, which may ask to die with the thread
// that made it.
class ChildProcess {
 public:
  struct Passed {
    int ours, theirs;
  };
  struct Request {
    std::vector<std::string> argv;    // argv[0] is a path
    std::vector<std::string> env;     // all of it
    std::vector<Passed> descriptors;  // every other descriptor of ours above 2 is closed there
  };

  // In a session of its own: no terminal, and no signals from the keyboard. Kind::not_found: there is no such program.
  static Result<ChildProcess> start(const Request& request);
  ChildProcess(ChildProcess&& other) noexcept;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // Readable from the moment it has ended.
  int exited_fd() const { return handle_.get(); }
  void kill();
  // The child goes on when this object or this process ends.
  void leave() { pid_ = -1; }
  // How it ended; none as long as it runs.
  std::optional<ExitStatus> status();

 private:
  ChildProcess(pid_t pid, UniqueFd handle) : pid_(pid), handle_(std::move(handle)) {}

  pid_t pid_;
  UniqueFd handle_;
  std::optional<ExitStatus> status_;  // set when it has been reaped
};

}  // namespace gw::os
