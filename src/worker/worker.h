#pragma once
// The worker process: carries out what its parent asks, for the threads of one job.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isolate/engine/engine.h"
#include "os/process/shared_counter.h"
#include "os/sockets/message_socket.h"
#include "wire/messages/worker_frames.h"
#include "worker/chunk_store.h"
#include "worker/lane.h"
#include "worker/outgoing_frames.h"
#include "worker/sleeping_threads.h"
#include "worker/spawned_children.h"
#include "worker/task_runs.h"
#include "worker/task_thread.h"
#include "worker/virtual_thread.h"

namespace gw::worker {

// The loop: one thread that reads frames, hands them to the virtual threads, writes what they have to say, and looks after slices and
// sleeping threads. It never runs a guest and never waits for one, except that loading a module happens here, before there is any.
//
// The parent is trusted to be our parent, not to be right: a frame out of order, for an unknown thread or malformed ends this process with
// a sentence on stderr.
class Worker {
 public:
  struct Parts {
    isolate::Engine& engine;
    os::UniqueFd socket;
    os::UniqueFd wake;  // an eventfd
    os::SharedCounter guests_running;
    std::vector<std::string> held_by;  // for Hello
  };

  explicit Worker(Parts parts);

  // Runs until the parent says so or is gone. The error says what the parent did wrong.
  Status run();

 private:
  using Time = std::chrono::nanoseconds;
  using Thread = std::shared_ptr<VirtualThread>;  // shared with its lane while it has a step to make
  struct Restoring {                              // more packs and determinants are to come
    std::uint64_t epoch = 0;
    std::uint64_t spawns_before = 0;
    bool begins = false;
    std::optional<VirtualThread::FromImage> from = {};
    std::vector<job::Determinant> determinants = {};
    std::optional<std::uint32_t> stop_after_polls = {};
    std::optional<Error> failure = {};  // the image cannot be read; said when all is here
  };
  struct NewThread {  // of a thread in this worker
    job::EffectGate gate;
    VirtualThread::StartSource start_source;
    std::uint64_t spawns_before;
    std::optional<std::uint32_t> stop_after_polls;
  };
  enum class Flow : std::uint8_t { on, end };

  void say_hello(std::vector<std::string> held_by);
  Result<Flow> turn();
  // When to look again at the latest.
  std::optional<Time> next_look(Time now) const;
  Result<Flow> read_frames();
  Status write_frames();
  void wake_sleeping_threads(Time now);
  void give_up_late_requests(Time now);
  void remove_finished();
  Status look_after_tasks(Time now);
  Status add_promoted();
  void add_task_thread(Lane& lane);
  void offer_tasks();

  Result<Flow> on_frame(os::Message message);
  Status on_load(const wire::pb::ToWorker::Load& load, std::vector<os::UniqueFd> descriptors);
  Status load(const wire::pb::ToWorker::Load& load, std::vector<os::UniqueFd> descriptors);
  Status on_start(const wire::pb::ToWorker::Start& start, std::vector<os::UniqueFd> descriptors);
  static Result<wire::pb::ThreadConfig> open_config(os::UniqueFd descriptor);
  Status on_restore(const wire::pb::ToWorker::Restore& restore, std::vector<os::UniqueFd> descriptors);
  Status finish_restore(std::uint64_t id, Restoring restoring);
  Status on_input(const wire::pb::ToWorker::Input& input);
  Status on_mails(const wire::pb::ToWorker::Mails& mails);
  Status on_chunk(const wire::pb::ToWorker::Chunk& chunk);
  Status on_stored(const wire::pb::ToWorker::Stored& stored);
  Status on_determinants_stable(const wire::pb::ToWorker::Stable& stable);
  Status on_image_stable(const wire::pb::ToWorker::ImageStable& stable);
  Status on_drop(const wire::pb::ToWorker::Thread& which);
  Status on_task_setup(const wire::pb::ToWorker::TaskSetup& setup, std::vector<os::UniqueFd> descriptors);
  Status on_run_tasks(const wire::pb::ToWorker::Tasks& tasks);
  Status on_drop_tasks(const wire::pb::ToWorker::Tasks& tasks);
  Status on_adopt(const wire::pb::ToWorker::Thread& which);
  Status on_call_task(const wire::pb::ToWorker::CallTask& request);
  Status on_request(const wire::pb::ToWorker::Thread& which, void (VirtualThread::*request)());

  Status check_new(std::uint64_t id) const;
  void add(NewThread new_thread);
  void drop(std::uint64_t id);
  Lane& next_lane() { return *lanes_[next_lane_++ % lanes_.size()]; }
  static Status open_images(std::vector<os::UniqueFd> descriptors, Restoring& restoring);
  // None: the thread has ended and the parent may not know yet.
  VirtualThread* find(std::uint64_t id);
  ThreadGate* find_gate(std::uint64_t id);
  void wake_for_room(std::uint64_t id);
  Status queue_messages(std::deque<os::Message> messages);
  Status queue_effects(ThreadGate& gate);
  Status queue_results();
  void not_made(std::uint64_t thread, std::uint64_t epoch, const Error& error);
  void not_done(VirtualThread& thread, const Error& error);

  isolate::Engine& engine_;
  os::MessageSocket socket_;
  os::SharedCounter guests_running_;
  OutgoingFrames outgoing_;
  ChunkStore chunks_{outgoing_};
  SleepingThreads sleeping_threads_;
  SpawnedChildren spawned_children_;
  std::optional<ThreadEnvironment> environment_;  // set by Load
  std::optional<TaskRuns> tasks_;                 // set by TaskSetup
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t next_lane_ = 0;
  std::map<std::uint64_t, Thread> threads_;
  std::map<std::uint64_t, std::unique_ptr<TaskThread>> task_threads_;
  std::map<std::uint64_t, Restoring> restoring_;
};

}  // namespace gw::worker
