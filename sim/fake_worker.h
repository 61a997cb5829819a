#pragma once
// A worker process of the simulation: runs fake guests behind the frames of worker.proto.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "fake_guest.h"
#include "job/authority/task_config.h"
#include "job/host/input_queue.h"
#include "job/host/mail_queue.h"
#include "job/names.h"
#include "job/tasks/task_set.h"
#include "wire/worker.pb.h"

namespace gw::sim {

// The output of a worker: a frame, and an image beside it.
struct WorkerOutput {
  wire::pb::FromWorker frame;
  Bytes image;
};

// A worker takes frames and gives frames; each of its threads takes a step when the world says so. Gate and input are those of the real
// worker, and so is the rule by which a thread waits: it parks where there is no room, or no input, and goes on when there is. A value of
// the simulation, no I/O.
class FakeWorker {
 public:
  using IsFlaky = std::function<bool(std::uint32_t task)>;  // whether the task exits with an error here
  FakeWorker(const job::JobId& job, const Hash256& module, const job::EffectGate::Config& gate, IsFlaky is_flaky)
      : job_(job), module_(module), gate_(gate), is_flaky_(std::move(is_flaky)) {}

  const job::JobId& job() const { return job_; }

  // `config` and `image`: what came beside the frame. Returns the threads that are to be stepped from now on. An error: the frame breaks a
  // rule, and the worker ends.
  Result<std::vector<ThreadId>> on_frame(const wire::pb::ToWorker& frame, const std::string& config, Bytes image,
                                         std::vector<WorkerOutput>& out);
  // Lets a thread take one step. False: the thread has ended, is gone or waits. `clock`: the time it would read now.
  bool step(ThreadId thread, std::uint64_t clock, std::vector<WorkerOutput>& out);

  // Begins as many tasks as there are free lanes; they are to be stepped.
  std::vector<ThreadId> begin_tasks();
  // The tasks that run and are no threads.
  std::vector<std::uint32_t> running_tasks() const;

  struct Life {
    ThreadId thread;
    std::uint64_t epoch;
  };
  // Threads that began to run since the last call.
  std::vector<Life> take_started() { return std::exchange(started_, {}); }
  // Steps of all threads since the last call.
  std::uint64_t take_steps() { return std::exchange(steps_, 0); }

 private:
  // The reason why a thread takes no steps.
  enum class Wait : std::uint8_t { nothing, room_for_output, room_for_spawns, room_for_determinants, room_for_mail, input, mail, adoption };
  struct Thread {
    GuestState state;
    job::EffectGate gate;
    job::InputQueue input;
    std::uint64_t spawns_before = 0;  // of earlier runs, that are stored: home knows their children
    bool imaged = false;              // the static page has been sent
    bool ended = false;
    Wait wait = Wait::nothing;
    std::map<Hash256, std::uint64_t> images = {};      // that were sent, and the number of determinants in each
    std::optional<std::uint32_t> task = std::nullopt;  // its gate is closed: it is a task, or waits to be adopted as a thread
    bool promoted = false;
    std::uint64_t task_steps = 0;
    job::MailQueue mail = job::MailQueue(0);
  };
  // The tasks of an array. A task is promoted after so many steps as `promote_after_ns` has milliseconds.
  struct Tasks {
    std::optional<job::TaskConfigs> configs;
    std::map<std::uint32_t, wire::pb::TaskRow> rows;  // of tasks that wait
    std::uint32_t count = 0;
    std::uint64_t promote_after = 0;
    std::uint64_t lanes = 0;  // for so many at once, less the promotions
    std::uint64_t promotions = 0;
    job::TaskSet queue;
  };

  Result<ThreadId> start(const wire::pb::ToWorker::Start& frame, const std::string& config, std::vector<WorkerOutput>& out);
  std::vector<ThreadId> restore(const wire::pb::ToWorker::Restore& frame, Bytes image, std::vector<WorkerOutput>& out);
  wire::pb::FromWorker::Image& add_image(ThreadId id, Bytes image, wire::pb::FromWorker::Image::Why why, std::vector<WorkerOutput>& out);
  void suspend(ThreadId id, std::vector<WorkerOutput>& out);
  static void not_done(ThreadId id, const Thread& thread, std::vector<WorkerOutput>& out);
  void send_image(ThreadId id, Thread& thread, wire::pb::FromWorker::Image::Why why, std::vector<WorkerOutput>& out);
  static Status on_image_stable(Thread& thread, const Hash256& image);
  void fork(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out);
  void end(ThreadId id, Thread& thread, Effect::End::Reason reason, const std::string& sentence, std::vector<WorkerOutput>& out);
  static Status read_clock(Thread& thread, std::uint64_t clock);
  // The thread, if it can go on with what has just come.
  static std::vector<ThreadId> wake(ThreadId id, Thread& thread);
  static Wait wait_before(const Thread& thread);
  void ask_input(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out);
  void ask_mail(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out);
  Result<std::vector<ThreadId>> on_mails(const wire::pb::ToWorker::Mails& frame);
  static void read_note(Thread& thread);
  static void write_note(Thread& thread);
  static std::uint64_t mate_of(std::uint64_t thread);
  void flush(ThreadId id, Thread& thread, std::vector<WorkerOutput>& out);
  void on_tasks(const wire::pb::ToWorker& frame, const std::string& config, std::vector<WorkerOutput>& out);
  void promote(Thread& thread, std::vector<WorkerOutput>& out);
  void send_result(Thread& thread, std::vector<WorkerOutput>& out);
  Result<std::vector<ThreadId>> adopt(ThreadId id, std::vector<WorkerOutput>& out);
  // Reads the input files, one after the other, beside what the threads do.
  void read_inputs(const wire::pb::ThreadConfig& config, std::vector<WorkerOutput>& out);
  void read_files(const wire::pb::TaskRow& row, std::vector<WorkerOutput>& out);
  Status on_chunk(const wire::pb::ToWorker::Chunk& chunk, std::vector<WorkerOutput>& out);
  void want_next(std::vector<WorkerOutput>& out) const;
  void drop_tasks(const wire::pb::ToWorker::Tasks& tasks);

  job::JobId job_;
  Hash256 module_;
  job::EffectGate::Config gate_;
  IsFlaky is_flaky_;
  std::map<ThreadId, Thread> threads_;
  Tasks tasks_;
  std::vector<std::string> inputs_;  // hashes of chunks that were not read yet, the next one last
  bool reads_inputs_ = false;
  std::vector<Life> started_;
  std::uint64_t steps_ = 0;
};

// The program a task runs, in its arguments: alone, or with those of all tasks.
std::string encode_program(const GuestState& beginning);
GuestState decode_program(const wire::pb::ThreadConfig& config);

}  // namespace gw::sim
