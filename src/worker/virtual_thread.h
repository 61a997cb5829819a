#pragma once
// One virtual thread in this worker: an isolate, its gate, and what it is asked to do.

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
#include "job/effect_gate.h"
#include "os/shared_counter.h"
#include "worker/chunk_store.h"
#include "worker/forked_threads.h"
#include "worker/frame_values.h"
#include "worker/input_pieces.h"
#include "worker/lane.h"
#include "worker/outgoing_frames.h"
#include "worker/sleeping_threads.h"
#include "worker/thread_gate.h"

namespace gw::worker {

// What all threads of the worker share. Outlives them.
struct ThreadEnvironment {
  isolate::Engine& engine;
  std::shared_ptr<const isolate::Module> module;
  isolate::Limits limits;
  bool keep_images = false;  // save incrementally, and once before the first instruction
  OutgoingFrames& outgoing;
  ChunkStore& chunks;
  SleepingThreads& sleeping_threads;
  ForkedThreads& forked_threads;
  std::function<Lane&()> next_lane;   // for a child; any thread
  os::SharedCounter& guests_running;  // the parent looks at it when this process has died
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
    std::vector<wire::Image> ancestors;
  };
  struct FromFork {
    isolate::ForkPoint point;
  };
  using StartSource = std::variant<FromStart, FromImage, FromFork>;

  VirtualThread(ThreadEnvironment& environment, Lane& lane, job::EffectGate gate, StartSource start_source);

  std::uint64_t id() const override { return id_; }
  bool forked() const { return forked_; }
  ThreadGate& gate() { return gate_; }
  InputPieces& input() { return input_; }

  // --- the loop

  void start() { enqueue(); }
  // Each run stops at the (n+1)-th poll, and it is suspended there. REQUIRES: not started.
  void stop_after_polls(std::uint32_t polls) { polls_ = polls; }
  // So many of its effects are stored since a life before: the child of a fork among them lives elsewhere. REQUIRES: not started.
  void set_stored_before(std::uint64_t sequence) { stored_before_ = sequence; }
  // It is elsewhere, or over: what it does has no effect any more, and nobody is told of its end.
  void abandon();
  void request_suspend();
  void request_checkpoint();
  void request_terminate();
  // Whatever it waits for may be there: time or input.
  void wake();
  // The same, if it waits for a chunk.
  void wake_from_chunk();
  // The same, if it waits for room and its gate has some.
  void wake_for_room();
  // Another thread wants its turn.
  void give_way();
  // A request it should have stopped for long ago is given up. Returns whether there was one.
  bool give_up_requests(Time now);
  std::optional<Time> request_deadline() const;
  bool gone() const;
  // Nothing of it is needed here any more: it has moved away, or all its effects are stored.
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
  void fork_child();
  void start_child(job::ThreadId id, isolate::ForkPoint point);
  Next wait_for_room(isolate::Outlet outlet);
  Next hand_out_files();
  Status report(ByteView bytes) override;
  bool has_room(isolate::Outlet outlet) const override { return gate_.has_room(outlet); }
  void wait_for_room(isolate::Outlet outlet, std::chrono::milliseconds timeout) override { gate_.wait_for_room(outlet, timeout); }
  // False: it has left.
  bool answer_requests();
  Result<Hash256> save(wire::pb::FromWorker::Image::Why why);
  Next end(const isolate::Stop& stop);
  void say_end(wire::pb::Effect::End end);
  void fail_request(ThreadFate fate, const Error& error);
  isolate::IsolateHost host() { return {input_, output_, errors_, clock_, gate_, environment_.chunks, *this}; }

  ThreadEnvironment& environment_;
  Lane& lane_;
  const std::uint64_t id_;
  std::optional<std::uint32_t> polls_;
  std::uint64_t stored_before_ = 0;
  ThreadGate gate_;
  InputPieces input_;
  GateOutput output_{gate_, 1}, errors_{gate_, 2};
  isolate::SystemClock clock_;

  const bool forked_;

  // --- the pool thread only
  std::optional<StartSource> start_source_;     // until the isolate is made
  std::atomic<bool> moved_ = false;             // its effects are in an image, or are not wanted
  bool tracked_ = false;                        // an image was saved, so that the next one may hold the changes only
  std::optional<isolate::OutputWalk> outputs_;  // has exited, and hands out what it leaves
  wire::pb::Effect::End end_;                   // what it says after that

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
