#pragma once
// The parent's side of one worker process: starts it, talks to it, holds it to its limits, and says how it died.

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/worker/answer_deadlines.h"
#include "os/cage/cgroup.h"
#include "os/process/child_process.h"
#include "os/process/shared_counter.h"
#include "os/sealed_memory.h"
#include "os/sockets/message_socket.h"
#include "wire/messages/worker_frames.h"

namespace gw::node {

// Three quarters of this machine's memory: what a worker may use where its lender has set no limit. The manifest limits each thread.
std::uint64_t default_worker_memory();

// Limits that the parent enforces from outside, whatever the worker does.
struct WorkerLimits {
  std::uint64_t resident_bytes = default_worker_memory();  // in use by all its threads together, with the images being saved
  std::uint32_t os_threads = 256;
  std::chrono::milliseconds start = std::chrono::seconds(20);   // until it says hello
  std::chrono::milliseconds answer = std::chrono::seconds(60);  // to a request that is always answered
};

// The share of this machine that its owner allows a worker.
struct WorkerShare {
  std::uint64_t resident_bytes = WorkerLimits{}.resident_bytes;
  double processors = 0;        // 0: no limit
  std::uint32_t percent = 100;  // of its time to run, where no control group holds `processors`
  std::uint32_t nice = 0;       // of its process; only a privileged user can lower it for a worker that runs

  auto operator<=>(const WorkerShare&) const = default;
};

enum class DeathCause : std::uint8_t {
  finished,      // the worker was asked to end
  guest_fault,   // the worker crashed, or was stopped by the cage, while a guest ran
  engine_fault,  // the worker ended or crashed by itself
  limit,         // the worker was ended because it took too much
  broke_rules,   // the worker sent a forbidden frame, or did not answer
  killed,        // by us on request, or by another process
};

struct Death {
  DeathCause cause;
  std::string sentence;
  std::vector<std::uint32_t> tasks = {};  // of the job that ran at that moment, as the worker said: any number below kMaxTasks
};

// A godwit-worker process in its cage. It has seen nothing of a guest until it is sent a Load.
//
// The owner polls: add_watched() gives the descriptors, on_turn() does what is due and returns what came; call it when poll(2) returns, and
// at next_deadline(). Nothing here blocks, except the destructor while a killed process goes away. What comes from the worker is checked
// (wire/messages/worker_frames.h) but for what only the owner knows, such as which threads there are; the owner kills a worker that lies
// about them.
//
// Belongs to one thread, which must be the one that started it.
class WorkerProcess {
 public:
  using Time = std::chrono::nanoseconds;  // os::monotonic_now()

  struct Config {
    std::filesystem::path program;  // godwit-worker
    WorkerLimits limits;
    std::uint32_t nice = 0;
  };
  struct Received {
    wire::pb::FromWorker frame;
    std::optional<os::SealedMemory> memory;  // of an Image
  };

  static Result<std::unique_ptr<WorkerProcess>> start(const Config& config);

  // May be used at once; what is sent before the worker is ready waits. Kind::overloaded for a frame that is too long; Kind::disconnected
  // if the worker is dead or does not read, which on_turn() then reports.
  Status send(const wire::pb::ToWorker& frame, std::vector<os::UniqueFd> descriptors = {});

  // Whether frames of the worker are read. Frames that are not read wait in the worker, whose own memory bounds them.
  void set_reading(bool reading) { reading_ = reading; }
  bool reading() const { return reading_; }
  void add_watched(std::vector<pollfd>& list) const;
  Time next_deadline() const;
  // Everything that has come, in order. After it returned nothing and death() is set, nothing comes any more.
  std::vector<Received> on_turn();

  // Once it has ended, and everything it said before has been given out.
  const std::optional<Death>& death() const { return death_; }
  void kill(DeathCause cause, std::string sentence);

  // Enforces this share from now on. REQUIRES: the worker uses no more memory than that now; otherwise it is killed for it.
  void hold(const WorkerShare& share);
  std::uint64_t resident_bytes() const;
  std::chrono::nanoseconds cpu_time() const;
  // Stops it, or lets it go on. The time in which it stands still does not count against its answers.
  void set_paused(bool paused);

  bool ready() const { return ready_; }
  pid_t pid() const { return child_.pid(); }
  // The number of running guests, as the worker reports it.
  int guests_running() const { return guests_running_.value(); }
  // The tasks that run, likewise.
  std::vector<std::uint32_t> running_tasks() const;
  // The confinements of the worker, from inside and outside, for people; complete when it is ready.
  const std::vector<std::string>& held_by() const { return held_by_; }

 private:
  enum class Request : std::uint8_t { hello, load, suspend, checkpoint, terminate, shutdown };
  using RequestKey = std::pair<Request, std::uint64_t>;  // with its thread, 0 if of none

  WorkerProcess(os::ChildProcess child, os::UniqueFd socket, os::SharedCounter guests_running, os::UniqueFd errors, WorkerLimits limits);
  void confine();

  void on_readable(std::vector<Received>& out);
  Status take(os::Message message, std::vector<Received>& out);
  Status on_hello(const wire::pb::FromWorker& frame);
  void expect_answer(const wire::pb::ToWorker& frame);
  void note_answer(const wire::pb::FromWorker& frame);
  void keep_stderr();
  void enforce(Time now);
  void check_memory(Time now);
  void keep_pace(Time now);
  void stop_or_continue();
  // The time that counts for answers: it stands still while the worker does.
  Time worker_time(Time now) const { return now - stood_still_ - (held_since_ ? now - *held_since_ : Time(0)); }
  void set_nice(std::uint32_t nice);
  Death explain(const os::ExitStatus& status) const;
  Death explain_signal(int signal) const;

  std::optional<os::Cgroup> cgroup_;  // goes after the process: only an empty group can be removed
  os::ChildProcess child_;
  os::MessageSocket socket_;
  os::SharedCounter guests_running_;
  os::UniqueFd errors_;  // its stderr
  WorkerLimits limits_;
  AnswerDeadlines<RequestKey> answers_;
  std::optional<Time> next_look_;  // set where no control group keeps the limits
  WorkerShare share_;
  std::optional<Time> next_pause_;  // set where no control group holds its time: it stops and goes on in turns
  bool paused_ = false;             // by its limit of time
  std::optional<Time> held_since_;  // paused by set_paused()
  Time stood_still_{0};             // by set_paused(), before
  bool stopped_ = false;            // the process
  bool reading_ = true;
  std::vector<std::string> held_by_;
  std::string stderr_tail_;     // the end of what it wrote to stderr
  std::size_t words_seen_ = 0;  // bytes
  bool ready_ = false;
  bool silent_ = false;               // nothing comes from the socket any more
  std::optional<Death> kill_reason_;  // we have killed it, for this
  std::optional<Death> death_;
};

}  // namespace gw::node
