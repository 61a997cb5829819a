#pragma once
// A virtual thread in this worker: an isolate, its gate, and the requests for it.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "isolate/fork_point.h"
#include "isolate/isolate.h"
#include "isolate/thread_host.h"
#include "job/effects/effect_gate.h"
#include "os/process/shared_counter.h"
#include "worker/chunk_store.h"
#include "worker/frame_values.h"
#include "worker/input_pieces.h"
#include "worker/lane.h"
#include "worker/mailbox.h"
#include "worker/outgoing_frames.h"
#include "worker/sleeping_threads.h"
#include "worker/spawned_children.h"
#include "worker/task_runs.h"
#include "worker/thread_gate.h"

namespace gw::worker {

// The objects that all threads of the worker share. Outlives them.
struct ThreadEnvironment {
  isolate::Engine& engine;
  std::shared_ptr<const isolate::Module> module;
  isolate::Limits limits;
  bool keep_images = false;  // save incrementally, and once before the first instruction
  ThreadGate::Recording recording = ThreadGate::Recording::on;
  OutgoingFrames& outgoing;
  ChunkStore& chunks;
  SleepingThreads& sleeping_threads;
  os::SharedCounter& guests_running;  // the parent looks at it when this process has died; a cell per lane: 1 + the task that runs there
  SpawnedChildren& spawned_children;
  std::uint64_t most_children = 0;          // of forks, in the whole job, that have not ended: beyond them fork() fails
  job::EffectGate::Config gate = {};        // of threads; tasks have less room
  std::atomic<std::uint64_t> children = 0;  // as home has said
};

// Lives on its lane's pool thread, step by step: the first step makes the isolate, each further one does what was asked (save, stop) and
// runs the guest until it stops. Between steps it is ready, or waits for time, input, a chunk or
// room for its effects, holding no thread. One that has exited hands out its files the same way before it says its end.
//
// Requests come from the loop and are answered with frames: Image, Stopped or Failed. After `gone()` it does nothing any more; it stays in
// the worker's table until its effects are stored.
//
// A task thread runs one task after the other in the same isolate, which is put back in between, and keeps what a task emits in its gate. A
// task that comes to its end leaves its effects as a result. A task that runs long, forks, waits for input or for a distant moment, or has
// filled its gate is promoted: from then on this is the thread of that task, the lane gets another task thread, and the effects leave once
// home has adopted the thread.
class VirtualThread final : public std::enable_shared_from_this<VirtualThread>, private isolate::ThreadHost {
 public:
  using Time = std::chrono::nanoseconds;  // os::monotonic_now()

  struct FromStart {
    isolate::IsolateConfig config;
  };
  struct FromImage {
    wire::Image image;
    std::vector<wire::BlobPack> packs;  // where its pages are
    bool begins = false;                // its pages are nowhere else
  };
  struct FromParent {  // spawned in this worker
    isolate::ForkPoint point;
  };
  using StartSource = std::variant<FromStart, FromImage, FromParent>;

  VirtualThread(ThreadEnvironment& environment, Lane& lane, job::EffectGate gate, StartSource start_source);
  // A task thread. `tasks` outlives it.
  VirtualThread(ThreadEnvironment& environment, Lane& lane, TaskRuns& tasks);

  std::uint64_t id() const override { return id_; }
  ThreadGate& gate() { return gate_; }
  InputPieces& input() { return input_; }
  Mailbox& mailbox() { return mailbox_; }
  Lane& lane() { return lane_; }

  // --- the loop

  void start() { enqueue(); }
  // Each run stops at the (n+1)-th poll, and it is suspended there. REQUIRES: not started.
  void stop_after_polls(std::uint32_t polls) { polls_ = polls; }
  // The number of its spawns that are stored since an earlier run: home has their children. REQUIRES: not started.
  void set_spawns_before(std::uint64_t spawns) { spawns_before_ = spawns; }
  // The thread is elsewhere, or over: its effects and its end are not sent any more.
  void abandon();
  void request_suspend();
  void request_checkpoint();
  void request_terminate();
  // Enqueues the thread: the time or input that it waits for may be there.
  void wake();
  // Enqueues the thread if it waits for a chunk.
  void wake_from_chunk();
  // Enqueues the thread if it waits for room and its gate has some.
  void wake_for_room();
  // Another thread wants a turn on the lane.
  void give_way();
  // Gives up a request for which the thread should have stopped long ago. Returns whether there was one.
  bool give_up_requests(Time now);
  std::optional<Time> request_deadline() const;
  bool gone() const;
  // The worker needs nothing of the thread any more: it has moved away, or all its effects are stored.
  bool finished() const;

  // --- the loop, of task threads

  // When the task in progress becomes a thread if it has not ended before.
  std::optional<Time> promotion_due() const;
  void promote_if_due(Time now);
  // Stops the task in progress, without a result, if it is one of these and has not been promoted.
  void drop_task(const TaskRuns::Ranges& ranges);
  // Enqueues the thread if its task in progress is this thread.
  void wake_task(std::uint64_t id);
  // Home has taken the promoted task as a thread.
  void adopt();

  // --- the lane

  void step();
  // Runs tasks until none waits or another thread of the lane is ready. Does nothing if a task is in progress.
  void take_tasks();

 private:
  // task_over: another task may begin. idle: none is there.
  enum class Next : std::uint8_t { run_again, wait, over, task_over, idle };

  Next run_step();
  void finish_step(Next next);
  bool begin_task();
  Status renew_isolate(const TaskRuns::Task& task);
  bool end_task();
  void end_task_unmade(std::uint32_t task, const Error& error);
  void give_result(std::uint32_t task, Time run_time);
  bool must_be_thread(const isolate::Wait& wait) const;
  void promote();
  void promote_locked();
  bool waits_for_adoption() const;
  void enqueue();
  void enqueue_locked();
  void ask_to_stop_locked();
  Status make_isolate();
  Result<std::unique_ptr<isolate::Isolate>> make_from(StartSource start_source);
  void not_made(const Error& error);
  isolate::Stop resume();
  Next follow(const isolate::Stop& stop);
  Next follow_wait(const isolate::Wait& wait);
  Next fork();
  bool may_fork() const;
  Next refuse_fork();
  Result<Hash256> save_child(job::ThreadId child);
  Next wait_for_room(isolate::Outlet outlet);
  Next hand_out_files();
  bool leaves_files(const isolate::Stop& stop) const;
  Next finish();
  Status report(ByteView bytes) override;
  bool has_mail() const override { return true; }
  void send(std::uint64_t to, std::uint64_t tag, ByteView bytes) override { gate_.send(to, tag, bytes); }
  void watch(std::uint64_t thread) override { gate_.watch(thread); }
  const isolate::MailItem* mail() override { return mailbox_.front(); }
  void take_mail() override { mailbox_.take(); }
  void stop_waiting_for_mail() override { mailbox_.tell(Mailbox::Guest::goes_on); }
  void wait_for_mail(std::chrono::milliseconds timeout) override {
    mailbox_.tell(Mailbox::Guest::waits);
    mailbox_.wait(timeout);
  }
  bool has_room(isolate::Outlet outlet) const override { return gate_.has_room(outlet); }
  void wait_for_room(isolate::Outlet outlet, std::chrono::milliseconds timeout) override { gate_.wait_for_room(outlet, timeout); }
  void wait_for_item(const isolate::AwaitMail& wait) {
    mailbox_.tell(Mailbox::Guest::waits);
    if (wait.deadline) environment_.sleeping_threads.add(*wait.deadline, id_);
    environment_.outgoing.wake();
  }
  // False: it has left.
  bool answer_requests();
  bool tracks_writes() const { return environment_.keep_images && environment_.module->mobile(); }
  Result<Hash256> save(wire::pb::FromWorker::Image::Why why);
  // Saves by `save_isolate` and sends the image with `frame`, which says what it is of.
  using SaveIsolate = std::function<Result<wire::Image>(const isolate::SaveOptions& options)>;
  Result<Hash256> send_image(wire::pb::FromWorker frame, Bytes gate, const SaveIsolate& save_isolate);
  Next end(const isolate::Stop& stop);
  void say_end(wire::pb::Effect::End end);
  void fail_request(ThreadFate fate, const Error& error);
  isolate::IsolateHost host() { return {input_, output_, errors_, clock_, gate_, environment_.chunks, *this}; }

  ThreadEnvironment& environment_;
  Lane& lane_;
  TaskRuns* const tasks_ = nullptr;  // of a task thread
  std::uint64_t id_;                 // of a task thread: of the task in progress. Set on the pool thread, with the lock
  std::optional<std::uint32_t> polls_;
  std::uint64_t spawns_before_ = 0;
  ThreadGate gate_;
  InputPieces input_;
  Mailbox mailbox_{gate_, environment_.outgoing};
  GateOutput output_{gate_, 1}, errors_{gate_, 2};
  isolate::SystemClock clock_;

  // --- the pool thread only
  std::optional<StartSource> start_source_;     // until the isolate is made
  std::atomic<bool> moved_ = false;             // its effects are in an image, or are not wanted
  bool tracked_ = false;                        // an image was saved, so that the next one may hold the changes only
  std::optional<isolate::OutputWalk> outputs_;  // has exited, and hands out what it leaves
  wire::pb::Effect::End end_;                   // sent after that

  mutable std::mutex mutex_;
  // All guarded by mutex_. The isolate is set and destroyed on the pool thread; others only ask it to stop, and only while running_.
  std::unique_ptr<isolate::Isolate> isolate_;
  bool abandoned_ = false;
  bool waits_for_chunk_ = false;
  std::optional<isolate::Outlet> waits_for_room_;
  bool queued_ = false;  // in its lane, or making a step
  bool again_ = false;   // something came during the step: make another
  bool running_ = false;
  bool gone_ = false;
  bool suspend_wanted_ = false, checkpoint_wanted_ = false, terminate_wanted_ = false;
  std::optional<Time> request_deadline_;
  bool idle_ = false;                  // a task thread that is not in its lane and has no task
  std::optional<std::uint32_t> task_;  // in progress; stays when it is promoted
  std::optional<Time> task_began_;     // none: its isolate is being made
  bool promoted_ = false;
};

}  // namespace gw::worker
