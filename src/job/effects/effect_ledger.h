#pragma once
// Home's side of the effect gate: takes each effect of each thread once.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>

#include "job/effects/effect_gate.h"
#include "job/effects/stored_effect.h"

namespace gw::job {

// Records which effects of one job are stored, stream by stream. Home asks accept() before it stores an effect, and applies fresh effects
// only; after a crash the ledger is rebuilt by restore() from the headers of the stored effects, in their order.
//
// A duplicate is compared with what was stored under its number, as far as that is remembered: for the last kRemembered of a stream of a
// thread that runs, and of all streams of the job together at most Config::remembered. A divergence before those shows in what follows it.
// Children: at most Config::children, ended ones included, since a zombie may speak for them. The threads that the owner adds are as many
// as the manifest has tasks.
class EffectLedger {
 public:
  enum class Verdict : std::uint8_t { fresh, duplicate };
  struct Config {
    std::size_t children = 1u << 20;
    std::size_t remembered = 1u << 18;        // effects, 4 MiB
    std::size_t streams = wire::kMaxStreams;  // of one thread
  };
  static constexpr std::size_t kRemembered = 8192;

  EffectLedger() : EffectLedger(Config()) {}
  explicit EffectLedger(Config config) : config_(config) {}

  // A thread is known from here on. The main thread is told by the job's owner, children by the effects of their parents.
  // Kind::invalid if there is one of this name.
  Status add(ThreadId thread);
  bool knows(ThreadId thread) const { return threads_.contains(thread); }

  // The thread is placed again: effects of the host that ran it before are refused from now on. Returns the new epoch.
  Result<std::uint64_t> next_epoch(ThreadId thread);
  // A thread, known or not, is at least in this epoch.
  Status adopt(ThreadId thread, std::uint64_t epoch);

  // The thread begins anew in its next epoch, and nothing of it counts as stored: a run of it has failed. REQUIRES: knows(thread), and it
  // has spawned nothing.
  void begin_again(ThreadId thread);

  // Adds an effect that an earlier boot stored, known by its header. Kind::corrupt: it does not follow the effect restored before it.
  Status restore(const StoredEffect& effect);

  // Messages of the thread up to this one are stored; of them only this is recorded. Kind::corrupt: there is no such thread.
  Status restore_mail(ThreadId thread, std::uint64_t epoch, std::uint64_t sequence);

  // fresh: store it. duplicate: it is stored; acknowledge it again.
  // Kind::not_found: no such thread. Kind::disconnected: from an older epoch. Kind::invalid: the effect is in the wrong stream, its number
  // leaves a gap, the thread has ended, or it spawns a thread that exists. Kind::guest_fault: the replay diverged; the sentence names both
  // effects.
  Result<Verdict> accept(const Effect& effect);

  // REQUIRES of these: knows(thread).
  // The epoch the thread is in; before its first placement, that of the effect which spawned it.
  std::uint64_t epoch(ThreadId thread) const { return threads_.at(thread).epoch; }
  // The last effect stored in a stream, 0 if none.
  std::uint64_t stored(ThreadId thread, const Stream& stream) const;
  StreamMarks stored(ThreadId thread) const;
  bool ended(ThreadId thread) const { return threads_.at(thread).ended; }
  std::size_t running() const { return running_; }
  // Effects that duplicates are compared with.
  std::size_t remembered() const { return remembered_; }

 private:
  Status add_child(ThreadId child, std::uint64_t epoch);  // known from an effect of its parent

  struct Trace {  // of an effect that was stored
    std::uint64_t digest;
    std::uint32_t bytes;
    EffectKind kind;
  };
  struct StreamState {
    std::uint64_t stored = 0;
    std::deque<Trace> traces;  // of the last ones stored
  };
  struct Thread {
    std::uint64_t epoch = 1;
    bool ended = false;
    std::map<Stream, StreamState> streams;
  };
  using Threads = std::map<ThreadId, Thread>;

  Result<Verdict> compare(const StreamState& state, const Effect& effect) const;
  void take(ThreadId id, Thread& thread, const StoredEffect& effect);
  void remember(ThreadId id, StreamState& state, const Trace& trace);
  void forget_one();
  void forget_all(ThreadId id, Thread& thread);

  Config config_;
  Threads threads_;
  std::size_t children_ = 0;
  std::size_t running_ = 0;
  std::size_t remembered_ = 0;      // traces of all threads
  std::set<ThreadId> with_traces_;  // and who has some
  ThreadId forgot_last_{0};         // whose traces were forgotten last, for want of room
};

}  // namespace gw::job
