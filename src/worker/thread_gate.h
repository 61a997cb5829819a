#pragma once
// The effect gate of one virtual thread, between the pool thread that runs it and the loop that talks to the parent.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "base/hash.h"
#include "isolate/determinants.h"
#include "isolate/thread_host.h"
#include "isolate/wasi/stdio.h"
#include "job/effects/effect_gate.h"
#include "worker/outgoing_frames.h"

namespace gw::worker {

// A job::EffectGate with a lock. Nothing waits in it (001-effects.md, "Back-pressure"): a guest asks for room before a call and parks
// without; only one that cannot park waits, in wait_for_room().
//
// The gate of a task is closed: all that the task emits, and its determinants, stay there. They are taken out together when the task ends
// (take_all()), or leave as those of any thread once home has adopted it (open()).
class ThreadGate final : public isolate::Determinants {
 public:
  // Without recording nothing is written down for a replay: the thread is never to run again from where it was.
  enum class Recording : std::uint8_t { on, off };
  enum class State : std::uint8_t { open, closed };
  ThreadGate(job::EffectGate gate, OutgoingFrames& outgoing, Recording recording = Recording::on, State state = State::open)
      : outgoing_(outgoing), epoch_(gate.epoch()), recording_(recording), gate_(std::move(gate)), state_(state) {}

  // --- the pool thread

  bool has_room(isolate::Outlet outlet) const;
  void wait_for_room(isolate::Outlet outlet, std::chrono::milliseconds timeout);
  // Always possible; back-pressure is has_room().
  void emit(job::Effect effect);
  std::uint64_t epoch() const { return epoch_; }
  // The number of the next spawn, the name of its child, and the gate of that.
  std::uint64_t next_spawn() const;
  job::ThreadId next_child() const;
  job::EffectGate fork(job::ThreadId child) const;
  // Spawns that home has not stored.
  std::uint64_t spawns() const;
  // Whether a fork was refused here in an earlier run; it is refused again.
  bool fork_was_refused() const;
  // Kind::guest_fault: it was not.
  Status refuse_fork() { return given(isolate::DeterminantKind::fork_refused, 0, next_spawn()); }
  // Emits as many effects as the bytes need. Descriptor: 1 stdout, 2 stderr.
  void emit_output(std::uint32_t descriptor, ByteView bytes);
  void send(std::uint64_t to, std::uint64_t tag, ByteView bytes);
  void watch(std::uint64_t thread);
  Result<std::optional<std::uint64_t>> recorded(isolate::DeterminantKind kind, std::uint32_t what) override;
  Status given(isolate::DeterminantKind kind, std::uint32_t what, std::uint64_t value) override;
  std::uint64_t mail() const;
  void on_mail_taken();
  std::uint64_t input_pieces() const;
  void on_input_taken(std::size_t bytes);
  Bytes save() const;
  // The frames that may leave: determinants first, then effects.
  std::vector<wire::pb::FromWorker> take_frames();
  // When that image is stable, so are the determinants before it.
  void on_saved(const Hash256& image);
  // Begins with the next task. REQUIRES: closed, and `gate` has the same epoch.
  void restart(job::EffectGate gate);
  // All effects of a task that has ended. REQUIRES: closed.
  std::vector<job::Effect> take_all();
  job::ThreadId thread() const;
  bool closed() const;

  // --- the loop

  void open();
  // The outlet has enough free space that resuming a thread parked for it is worth its cost.
  bool is_roomy(isolate::Outlet outlet) const;
  // Drops everything that is emitted from here on, and always has room for it: the thread is elsewhere, or over.
  void abandon();
  // All that may leave: first the frames in the queue, those of other threads too, then those of take_frames().
  struct InOrder {
    std::deque<os::Message> before;
    std::vector<wire::pb::FromWorker> frames;
  };
  // An effect that is emitted after its thread has put a frame into the queue, as a spawn is after the image of the child, comes after it.
  InOrder take_in_order();
  Status on_stored(const job::StreamMarks& marks);
  Status on_determinants_stable(std::uint64_t count);
  Status on_image_stable(const Hash256& image);
  bool all_stored() const;

 private:
  bool has_room_locked(isolate::Outlet outlet) const;
  std::vector<wire::pb::FromWorker> take_frames_locked();

  OutgoingFrames& outgoing_;  // its lock is taken while mutex_ is held, never the other way round
  const std::uint64_t epoch_;
  const Recording recording_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  job::EffectGate gate_;  // guarded by mutex_, like all below
  State state_;
  bool abandoned_ = false;
  std::map<Hash256, std::uint64_t> images_;  // not known to be stable -> number of determinants before
};

// A guest's stdout or stderr: everything becomes effects.
class GateOutput final : public isolate::OutputSink {
 public:
  GateOutput(ThreadGate& gate, std::uint32_t descriptor) : gate_(gate), descriptor_(descriptor) {}
  Status write(ByteView bytes) override {
    gate_.emit_output(descriptor_, bytes);
    return ok();
  }

 private:
  ThreadGate& gate_;
  std::uint32_t descriptor_;
};

}  // namespace gw::worker
