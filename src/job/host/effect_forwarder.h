#pragma once
// The effects of one thread on their way from its worker to home.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "job/actions.h"
#include "job/effects/effect_gate.h"

namespace gw::job {

// Keeps what the worker has sent until home has stored it, and sends it again when home does not answer. Streams are independent: each has
// its own numbers and its own time to send again, and one that waits holds up no other.
//
// Invariants: what is kept of a stream has no gap, and begins after the last effect that home has stored. Limit: the gate's, which sends no
// more than its outboxes hold, and Config for a worker whose gate does not wait. A value without threads.
class EffectForwarder {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);  // doubled each time while home does not answer, until
    Time longest_retry = std::chrono::milliseconds(3200);
    std::size_t bytes_per_message = 1u << 20;  // unless one effect is larger
    // Per stream, more than any gate holds (EffectGate::Config) with one effect beyond its limits: a worker that sends more has left its
    // engine.
    std::size_t effects = 3 * 4096;
    std::size_t bytes = 16u << 20;
  };
  struct Stored {
    StreamMarks streams;  // that have got further, and the last effect of each that is stored
    bool ended = false;   // the end of the thread is among them
  };
  // Whether an effect may leave yet.
  using MayLeave = std::function<bool(const Effect&)>;

  // `stored`: the effects of the thread that home has stored.
  EffectForwarder(const Config& config, const StreamMarks& stored);

  // Kind::invalid: the effect does not follow the one before in its stream, or the stream has more than a gate may hold. REQUIRES: the
  // effect is in its stream.
  Status add(const Effect& effect);
  // The next effects, as many as one message takes; none: there is nothing that may leave and has not been sent.
  JobMessage::Effects take(Time now, const MayLeave& may_leave);
  // The effects of streams that are due, or nearly so, again from the first that is not stored.
  JobMessage::Effects take_again(Time now, const MayLeave& may_leave);
  // Everything that is not stored is due.
  void hurry(Time now);
  // None: the marks say nothing new.
  std::optional<Stored> on_stored(Time now, const StreamMarks& marks);

  // The last effect of a stream that home is known to have.
  std::uint64_t stored(const Stream& stream) const;
  // The effect after which add() goes on in a stream.
  std::uint64_t last(const Stream& stream) const;
  bool empty() const;
  // When to send again what is not stored.
  Time due() const;

 private:
  struct Waiting {
    Effect effect;
    std::size_t bytes;
    std::uint64_t age;  // effects of all streams that came before
  };
  struct Queue {
    std::deque<Waiting> unstored;
    std::size_t bytes = 0;     // of them
    std::uint64_t sent = 0;    // the last one sent
    std::uint64_t stored = 0;  // the last one that home has
    Time patience{0};          // from one attempt to the next
    Time resend_at{0};         // while there is something: so long after it was sent, or after the last progress

    const Waiting* next() const;
  };

  Queue& queue_of(const Stream& stream);

  const Config config_;
  std::map<Stream, Queue> streams_;
  std::uint64_t next_age_ = 0;
};

}  // namespace gw::job
