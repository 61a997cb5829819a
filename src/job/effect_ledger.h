#pragma once
// Home's side of the effect gate: takes each effect of each thread once.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "job/effect_gate.h"
#include "job/stored_effect.h"

namespace gw::job {

// Which effects of one job have been stored. Whoever stores asks accept() first and applies what is fresh; after a crash it is rebuilt by
// restore() from the headers of the stored effects, in their order.
//
// A duplicate is compared with what was stored under its number, for the last kRemembered of a thread; a divergence before those shows in
// what follows it. Threads: at most Config::threads, ended ones included, since a zombie may speak for them.
class EffectLedger {
 public:
  enum class Verdict : std::uint8_t { fresh, duplicate };
  struct Config {
    std::size_t threads = 1u << 20;
  };
  static constexpr std::size_t kRemembered = 8192;

  EffectLedger() : EffectLedger(Config()) {}
  explicit EffectLedger(Config config) : config_(config) {}

  // A thread is known from here on. The main thread is told by the job's owner, children by the effects of their parents.
  // Kind::invalid if there is one of this name.
  Status add(ThreadId thread);
  bool knows(ThreadId thread) const { return threads_.contains(thread); }

  // The thread goes on from an image somewhere; whoever ran it before is a zombie from now on. Returns its epoch.
  Result<std::uint64_t> next_epoch(ThreadId thread);
  // A thread, known or not, that comes from a journal or an image: it is at least in this epoch, and so many of its effects are stored.
  Status adopt(ThreadId thread, std::uint64_t epoch, std::uint64_t stored);

  // One that was stored in a life before, known by its header. Kind::corrupt: it does not follow what was restored before it.
  Status restore(const StoredEffect& effect);

  // fresh: store it. duplicate: it is stored; acknowledge it again.
  // Kind::not_found: no such thread. Kind::disconnected: from an older epoch. Kind::invalid: its number leaves a gap, the thread has ended,
  // or it forks a thread that exists. Kind::guest_fault: the replay diverged; the sentence names both effects.
  Result<Verdict> accept(const Effect& effect);

  // The last effect stored, 0 if none. REQUIRES: knows(thread).
  std::uint64_t stored(ThreadId thread) const { return threads_.at(thread).stored; }
  bool ended(ThreadId thread) const { return threads_.at(thread).ended; }
  std::size_t running() const { return running_; }

 private:
  struct Trace {  // of an effect that was stored
    std::uint64_t digest;
    std::string description;
  };
  struct Thread {
    std::uint64_t epoch = 1;
    std::uint64_t stored = 0;
    bool ended = false;
    std::deque<Trace> traces;  // of the last ones stored
  };

  Result<Verdict> compare(const Thread& thread, const Effect& effect) const;
  static void remember(Thread& thread, std::uint64_t digest, std::string description);

  Config config_;
  std::map<ThreadId, Thread> threads_;
  std::size_t running_ = 0;
};

}  // namespace gw::job
