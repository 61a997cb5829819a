#pragma once
// The only way out of an isolate: numbers what leaves, keeps it until it is stored, and makes a replay repeat itself.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "job/thread_id.h"
#include "wire/worker.pb.h"

namespace gw::job {

using Effect = wire::pb::Effect;
using Determinant = wire::pb::Determinant;

// The gate of one virtual thread; docs/design/001-effects.md has the protocol and its reasons.
//
// Effects go emit() -> take_sendable() -> on_stored(). Determinants go given() -> take_new_determinants() -> on_determinants_stable(), and
// an effect becomes sendable only when all determinants recorded before it are stable. After a restore the determinants recorded by the
// life before are answered again, one by one, before anything new is.
//
// Invariants: sequences and indices have no gaps; what is in the outbox is not known to be stored; save() followed by restore() loses
// nothing. A value without threads: whoever owns the isolate owns its gate and locks it.
class EffectGate {
 public:
  struct Config {
    std::size_t outbox_bytes = 4u << 20;
    std::size_t outbox_effects = 4096;
    std::size_t unstable_determinants = 65536;
  };
  static constexpr std::size_t kMaxReplay = 1u << 22;  // determinants between two images

  // Of a thread that starts from the beginning.
  explicit EffectGate(ThreadId thread, std::uint64_t epoch = 1) : EffectGate(thread, epoch, Config()) {}
  EffectGate(ThreadId thread, std::uint64_t epoch, Config config) : config_(config), thread_(thread), epoch_(epoch) {}

  // Goes on from save(), as `epoch`. `replay` has the determinants recorded after the image was saved, in order. Kind::corrupt if the bytes
  // are not such a state, or `replay` does not go on where it ends.
  static Result<EffectGate> restore(ByteView state, std::uint64_t epoch, std::vector<Determinant> replay);
  static Result<EffectGate> restore(ByteView state, std::uint64_t epoch, std::vector<Determinant> replay, Config config);

  // A thread that starts from its beginning, again if `epoch` is not 1: `replay` then is what it was told before. Kind::corrupt as above.
  static Result<EffectGate> begin(ThreadId thread, std::uint64_t epoch, std::vector<Determinant> replay);

  // For the image.
  Bytes save() const;

  // The gate of a child that goes on from the same point: a new name, an empty outbox, no input, no determinants. It begins in the epoch of
  // its parent, so that the child of a zombie and the one that the replay forks are told apart.
  EffectGate fork(ThreadId child) const;

  ThreadId thread() const { return thread_; }
  std::uint64_t epoch() const { return epoch_; }
  // Words of the job's owner that travel with every image of the thread.
  const std::string& job() const { return job_; }
  void set_job(std::string words) { job_ = std::move(words); }

  // --- effects

  // The outbox has reached its limit: the thread waits before the next emit(), which is possible all the same.
  bool full() const { return outbox_.size() >= config_.outbox_effects || outbox_bytes_ >= config_.outbox_bytes; }
  // So much of it is free again that it pays to let a waiting thread go on.
  bool roomy() const { return outbox_.size() <= config_.outbox_effects / 2 && outbox_bytes_ <= config_.outbox_bytes / 2; }
  std::uint64_t next_sequence() const { return next_sequence_; }
  // `effect` has its kind set; thread, epoch and sequence are set here. Returns the sequence.
  std::uint64_t emit(Effect effect);
  // Those that may leave and have not been taken before, in order, together at most `max_bytes` (but at least one, if there is one).
  std::vector<Effect> take_sendable(std::size_t max_bytes);
  // Everything up to `sequence` is stored. Kind::invalid for what was never emitted.
  Status on_stored(std::uint64_t sequence);
  bool outbox_empty() const { return outbox_.empty(); }

  // --- determinants

  bool replaying() const { return !replay_.empty(); }
  // What the guest was told here in the life before, if it is still in that part; looking does not use it up. Kind::guest_fault if it asked
  // something else there: the program is not deterministic.
  Result<std::optional<std::uint64_t>> recorded(Determinant::Kind kind, std::uint32_t what) const;
  // As many as may be are not stable: the thread waits before the next given(), which is possible all the same. roomy: as for the outbox.
  bool determinants_full() const { return unstable_determinants() >= config_.unstable_determinants; }
  bool determinants_roomy() const { return unstable_determinants() <= config_.unstable_determinants / 2; }
  // The guest has been told this: what was recorded, or something new. Kind::guest_fault as above.
  Status given(Determinant::Kind kind, std::uint32_t what, std::uint64_t value);
  std::uint64_t next_determinant() const { return next_determinant_; }
  std::vector<Determinant> take_new_determinants();
  // The first `count` of the thread are stable, by themselves or because an image that contains them is.
  Status on_determinants_stable(std::uint64_t count);

  // --- input

  // How many pieces of input the guest has taken: the number of the next one.
  std::uint64_t input_pieces() const { return input_pieces_; }
  std::uint64_t input_bytes() const { return input_bytes_; }
  void on_input_taken(std::size_t bytes) {
    ++input_pieces_;
    input_bytes_ += bytes;
  }

 private:
  std::uint64_t unstable_determinants() const { return next_determinant_ - stable_determinants_; }

  struct PendingEffect {
    Effect effect;
    std::size_t bytes;
    std::uint64_t determinants_before;
  };

  Config config_;
  ThreadId thread_;
  std::uint64_t epoch_;
  std::string job_;

  std::uint64_t next_sequence_ = 1;
  std::deque<PendingEffect> outbox_;
  std::size_t outbox_bytes_ = 0;
  std::size_t taken_ = 0;  // how many of the outbox have been taken

  std::uint64_t next_determinant_ = 0;
  std::uint64_t stable_determinants_ = 0;
  std::deque<Determinant> replay_;     // not answered yet
  std::vector<Determinant> recorded_;  // not taken yet

  std::uint64_t input_pieces_ = 0;
  std::uint64_t input_bytes_ = 0;  // in them
};

// "output of 12 bytes to stdout": for messages.
std::string describe(const Effect& effect);

}  // namespace gw::job
