#pragma once
// The events and the outcome of the program that runs inside a command.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <variant>

#include "base/bytes.h"
#include "job/names.h"
#include "wire/worker.pb.h"

namespace gw::node {

// Reports the progress of a running program to people. Called on the thread that drives the program.
class JobObserver {
 public:
  struct Checkpoint {
    std::uint64_t number;  // 1, 2, ... of this command
    std::uint64_t bytes;   // of the job file now
  };
  virtual ~JobObserver() = default;
  virtual void on_started() {}  // the worker has loaded the program
  virtual void on_checkpoint(const Checkpoint&) {}
  virtual void on_forked(job::ThreadId /*parent*/, job::ThreadId /*child*/) {}
  virtual void on_report(job::ThreadId thread, ByteView bytes) = 0;
};

// How a program came to its end, or to a stop.
struct JobEnded {
  wire::pb::Effect::End main;
  std::uint64_t failed_children = 0;
};
struct JobSuspended {
  std::filesystem::path file;  // resume it from there
  std::uint64_t bytes = 0;
};
struct JobStopped {};  // EmbeddedPeer::request_stop()
struct JobOutcome {
  std::variant<JobEnded, JobSuspended, JobStopped> how;
  std::uint64_t threads = 1;
  std::uint64_t checkpoints = 0;
  std::chrono::nanoseconds cpu_time{0};  // of threads that have ended
  bool output_lost = false;              // the reader of standard output went away before its end
};

}  // namespace gw::node
