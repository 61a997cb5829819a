#pragma once
// A worker process of the simulation: runs fake guests behind the frames of worker.proto.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "fake_guest.h"
#include "job/names.h"
#include "wire/worker.pb.h"

namespace gw::sim {

// What leaves a worker: a frame, and an image beside it.
struct WorkerOutput {
  wire::pb::FromWorker frame;
  Bytes image;
};

// One worker. Frames in, frames out; each thread takes a step when the world says so. A value of the simulation, no I/O.
class FakeWorker {
 public:
  FakeWorker(const job::JobId& job, const Hash256& module) : job_(job), module_(module) {}

  const job::JobId& job() const { return job_; }

  // `config` and `image`: what came beside the frame. Returns the threads that are to be stepped from now on.
  std::vector<ThreadId> on_frame(const wire::pb::ToWorker& frame, const std::string& config, Bytes image, std::vector<WorkerOutput>& out);
  // One step of a thread. False: it has ended or is gone. `clock`: what it would read now.
  bool step(ThreadId thread, std::uint64_t clock, std::vector<WorkerOutput>& out);

  struct Life {
    ThreadId thread;
    std::uint64_t epoch;
  };
  // Threads that began to run since the last call.
  std::vector<Life> take_started() { return std::exchange(started_, {}); }
  // Children that are to be stepped from now on.
  std::vector<ThreadId> take_children() { return std::exchange(children_, {}); }

 private:
  struct Thread {
    GuestState state;
    job::EffectGate gate;
    std::uint64_t stored_before = 0;  // effects of lives before: forks among them have children elsewhere
    bool imaged = false;              // the static page has been sent
    bool ended = false;
    bool asked = false;  // for the next piece of input
    std::optional<std::string> piece = std::nullopt;
  };

  ThreadId start(const wire::pb::ToWorker::Start& frame, const std::string& config, std::vector<WorkerOutput>& out);
  std::vector<ThreadId> restore(const wire::pb::ToWorker::Restore& frame, Bytes image, std::vector<WorkerOutput>& out);
  void send_image(ThreadId id, Thread& thread, wire::pb::FromWorker::Image::Why why, std::vector<WorkerOutput>& out);
  void fork(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out);
  void bear(const Thread& thread, ThreadId child, std::vector<WorkerOutput>& out);
  bool read_clock(Thread& thread, std::uint64_t clock);
  bool read_input(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out);
  void flush(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out);

  job::JobId job_;
  Hash256 module_;
  std::map<ThreadId, Thread> threads_;
  std::vector<Life> started_;
  std::vector<ThreadId> children_;
};

// The program a task runs, in its arguments.
std::string encode_program(const GuestState& beginning);
GuestState decode_program(const wire::pb::ThreadConfig& config);

}  // namespace gw::sim
