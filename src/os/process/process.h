#pragma once
// Child processes: run one to its end and collect what it said.

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace gw::os {

struct ProcessRequest {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH unless it has a '/'
  Bytes stdin_bytes;
  std::size_t max_output = 16u << 20;  // for out and err each; more ends the child, Kind::overloaded
  std::chrono::milliseconds timeout = std::chrono::minutes(10);
  std::vector<std::string> env;       // NAME=value, added to our environment or replacing what is there
  std::filesystem::path working_dir;  // empty: ours
};

struct ProcessResult {
  int exit_code = 0;  // meaningful if signal is 0
  int signal = 0;     // that ended the child, 0 if it exited
  std::string out, err;

  bool succeeded() const { return signal == 0 && exit_code == 0; }
};

// Blocks until the child has ended; it and all the output it left are gone then. Fails if it cannot be started (Kind::not_found when there
// is no such program), takes longer than the timeout (Kind::timeout; the child is killed) or says too much. A non-zero exit is a result.
Result<ProcessResult> run_process(const ProcessRequest& request);

// Runs `body` in a forked copy of this process: for libraries that end the process when they fail. What it returns becomes `out`; what it,
// or the library, prints to stdout and stderr becomes `err`. The exit code is 0 if it returned. REQUIRES: no other thread holds a lock that
// `body` needs.
Result<ProcessResult> run_forked(const std::function<Bytes()>& body, std::chrono::milliseconds timeout, std::size_t max_output);

}  // namespace gw::os
