#pragma once
// Effects on their way from home to the person who waits for them.

#include <cstdint>
#include <deque>
#include <map>

#include "job/effect_gate.h"

namespace gw::node {

// Carries out what the effects of a job ask for, in their order: output bytes to descriptors of this process, partial results to an
// observer.
//
// Never blocks: a descriptor that does not take more (a stopped terminal, a full pipe) holds up everything behind it, and through the
// effects that are then not acknowledged the guest itself. A descriptor whose reader has gone takes everything and forgets it: broken()
// says so. Belongs to one thread; bounded by what the gates of the job may have outside (EffectGate::Config).
class EffectDelivery {
 public:
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void on_report(job::ThreadId thread, ByteView bytes) = 0;
  };
  struct Descriptors {
    int output = 1;
    int errors = 2;
  };

  EffectDelivery(Descriptors descriptors, Observer& observer) : descriptors_(descriptors), observer_(observer) {}

  void add(job::Effect effect) { waiting_.push_back(std::move(effect)); }
  bool empty() const { return waiting_.empty(); }
  // The descriptor to wait for (POLLOUT) before the next advance(), or -1.
  int blocked_on() const;
  // Does what can be done now.
  Status advance();
  // Since the last call: the last effect of each thread that was delivered.
  std::map<job::ThreadId, std::uint64_t> take_delivered() { return std::exchange(delivered_, {}); }
  bool broken() const { return broken_; }

 private:
  enum class Progress : std::uint8_t { done, blocked };
  Result<Progress> write_output(const job::Effect::Output& output);

  Descriptors descriptors_;
  Observer& observer_;
  std::deque<job::Effect> waiting_;
  std::size_t written_ = 0;  // of the front one
  std::map<job::ThreadId, std::uint64_t> delivered_;
  bool broken_ = false;
};

}  // namespace gw::node
