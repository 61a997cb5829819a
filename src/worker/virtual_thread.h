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
#include "worker/outgoing_frames.h"
#include "worker/sleeping_threads.h"
#include "worker/spawned_children.h"
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
  os::SharedCounter& guests_running;  // the parent looks at it when this process has died
  SpawnedChildren& spawned_children;
  std::uint64_t most_children = 0;          // of forks, in the whole job, that have not ended: beyond them fork() fails
  std::atomic<std::uint64_t> children = 0;  // as home has said
};

// Lives on its lane's pool thread, step by step: the first step makes the isolate, each further one does what was asked (save, stop) and
// runs the guest until it stops. Between steps it is ready, or waits for time, input, a chunk or
// room for its effects, holding no thread. One that has exited hands out its files the same way before it says its end.
//
// Requests come from the loop and are answered with frames: Image, Stopped or Failed. After `gone()` it does nothing any more; it stays in
// the worker's table until its effects are stored.
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

  std::uint64_t id() const override { return id_; }
  ThreadGate& gate() { return gate_; }
  InputPieces& input() { return input_; }

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

  // --- the lane

  void step();

 private:
  enum class Next : std::uint8_t { run_again, wait, over };

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
  Status report(ByteView bytes) override;
  bool has_room(isolate::Outlet outlet) const override { return gate_.has_room(outlet); }
  void wait_for_room(isolate::Outlet outlet, std::chrono::milliseconds timeout) override { gate_.wait_for_room(outlet, timeout); }
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
  const std::uint64_t id_;
  std::optional<std::uint32_t> polls_;
  std::uint64_t spawns_before_ = 0;
  ThreadGate gate_;
  InputPieces input_;
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
};

}  // namespace gw::worker
