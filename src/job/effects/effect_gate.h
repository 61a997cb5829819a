#pragma once
// The only way out of an isolate: numbers what leaves, keeps it until it is stored, and makes a replay repeat itself.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "job/thread_id.h"
#include "wire/messages/streams.h"
#include "wire/worker.pb.h"

namespace gw::job {

using Effect = wire::pb::Effect;
using Determinant = wire::pb::Determinant;
using wire::kHomeStream;
using wire::kLogStream;
using wire::kMailStream;
using wire::Stream;
using wire::StreamMarks;

// How many determinants a thread of a grid records before it waits until an image that contains them is stable. A keeper takes
// wire::kMaxDeterminants after an image; one call, which may have found room for a single one, records at most kMaxDeterminantsPerCall.
inline constexpr std::size_t kMaxDeterminantsPerCall = 4096;
inline constexpr std::size_t kMaxDeterminantsAfterImage = 65536 - kMaxDeterminantsPerCall;

// The gate of one virtual thread; docs/design/001-effects.md has the protocol and its reasons.
//
// Effects go emit() -> take_sendable() -> on_stored(), each in its stream: streams have their own numbers, limits and acknowledgements.
// Determinants go given() -> take_new_determinants() -> on_determinants_stable(), and an effect becomes sendable only when all determinants
// recorded before it, in the whole thread, are stable. The end of the thread becomes sendable only when everything in the other streams is
// stored: home ends a thread with its end, and would never hear of a child whose fork came later. After a restore the gate answers with the
// determinants that the earlier run recorded, one by one, before anything new.
//
// Invariants: sequences of a stream and indices have no gaps; what is in an outbox is not known to be stored; save() followed by restore()
// loses nothing. A value without threads: the owner of the isolate owns its gate and locks it.
class EffectGate {
 public:
  struct Config {
    std::size_t outbox_bytes = 4u << 20;  // of each stream
    std::size_t outbox_effects = 4096;
    std::size_t outbox_spawns = 16;  // each holds an image of the child at the host
    std::size_t unstable_determinants = 65536;
    std::size_t determinants_after_image = std::numeric_limits<std::size_t>::max();  // as the host says
  };
  static constexpr std::size_t kMaxReplay = 1u << 22;  // determinants between two images

  // The gate of a thread that starts from the beginning.
  explicit EffectGate(ThreadId thread, std::uint64_t epoch = 1) : EffectGate(thread, epoch, Config()) {}
  EffectGate(ThreadId thread, std::uint64_t epoch, Config config) : config_(config), thread_(thread), epoch_(epoch) {}

  // Goes on from save(), as `epoch`. `replay` has the determinants recorded after the image was saved, in order. Kind::corrupt if the bytes
  // are not such a state, or `replay` does not go on where it ends; Kind::unsupported: it was saved by another version of godwit.
  static Result<EffectGate> restore(ByteView state, std::uint64_t epoch, std::vector<Determinant> replay);
  static Result<EffectGate> restore(ByteView state, std::uint64_t epoch, std::vector<Determinant> replay, Config config);

  // A thread that starts from its beginning, again if `epoch` is not 1: `replay` then is what it was told before. Kind::corrupt as above.
  static Result<EffectGate> begin(ThreadId thread, std::uint64_t epoch, std::vector<Determinant> replay);
  static Result<EffectGate> begin(ThreadId thread, std::uint64_t epoch, std::vector<Determinant> replay, Config config);

  // The state of the gate, for the image.
  Bytes save() const;

  // The gate of a child that continues from the same point: a new name, no streams, no input, no determinants. Its first epoch is that of
  // its parent.
  EffectGate fork(ThreadId child) const;

  ThreadId thread() const { return thread_; }
  std::uint64_t epoch() const { return epoch_; }
  // Text of the job's owner that every image of the thread contains; a command stores its pb::JobSpec here.
  const std::string& job() const { return job_; }
  void set_job(std::string words) { job_ = std::move(words); }

  // --- effects

  // The outbox of a stream has reached its limit: the thread waits before the next emit() there, which is possible all the same.
  bool full(const Stream& stream) const;
  // The outbox of the stream has enough free space that resuming a waiting thread is worth its cost.
  bool roomy(const Stream& stream) const;
  // Spawns that are not known to be stored.
  std::size_t spawns() const;
  // The sequence number that the next effect in this stream gets.
  std::uint64_t next_sequence(const Stream& stream) const;
  // `effect` has its kind set; thread, epoch, stream and sequence are set here. Returns the sequence.
  std::uint64_t emit(Effect effect);
  // The effects that may leave and have not been taken before: in order within each stream, together at most `max_bytes` (but at least one,
  // if there is one). Older effects come first, but each stream gets its share.
  std::vector<Effect> take_sendable(std::size_t max_bytes);
  // Everything in the stream up to `sequence` is stored. Kind::invalid for what was never emitted.
  Status on_stored(const Stream& stream, std::uint64_t sequence);
  // All effects are stored.
  bool outbox_empty() const;

  // --- determinants

  bool replaying() const { return !replay_.empty(); }
  // The value that the earlier run gave the guest here, if the guest is still in the replayed part; reading the value does not consume it.
  // Kind::guest_fault if the guest asked for something else there: the program is not deterministic.
  Result<std::optional<std::uint64_t>> recorded(Determinant::Kind kind, std::uint32_t what) const;
  // Whether the earlier run refused a fork here: the value of that determinant is the number that the spawn would have had.
  bool fork_was_refused() const {
    return replaying() && replay_.front().kind() == Determinant::FORK_REFUSED && replay_.front().value() == next_sequence(kLogStream);
  }
  // The determinants that are not stable, or those that no stable image contains, have reached their limit: the thread waits before the
  // next given(), which is possible all the same. A thread that went on could end after more determinants than a keeper takes: it cannot be
  // checkpointed after its end, so its end would never leave. roomy: as for the outbox.
  bool determinants_full() const { return unstable_determinants() >= config_.unstable_determinants || waits_for_image(); }
  bool determinants_roomy() const { return unstable_determinants() <= config_.unstable_determinants / 2 && !waits_for_image(); }
  // Records a value that the guest was given: during a replay the recorded one, afterwards a new one. Kind::guest_fault as above.
  Status given(Determinant::Kind kind, std::uint32_t what, std::uint64_t value);
  std::uint64_t next_determinant() const { return next_determinant_; }
  std::vector<Determinant> take_new_determinants();
  // The first `count` of the thread are stable, by themselves or because an image that contains them is.
  Status on_determinants_stable(std::uint64_t count);
  // An image that contains the first `count` is stable.
  Status on_image_stable(std::uint64_t count);

  // --- input

  // How many pieces of input the guest has taken: the number of the next one.
  std::uint64_t input_pieces() const { return input_pieces_; }
  std::uint64_t input_bytes() const { return input_bytes_; }
  void on_input_taken(std::size_t bytes) {
    ++input_pieces_;
    input_bytes_ += bytes;
  }

  // How many items of its mailbox the guest has taken.
  std::uint64_t mail() const { return mail_; }
  void on_mail_taken() { ++mail_; }

 private:
  std::uint64_t unstable_determinants() const { return next_determinant_ - stable_determinants_; }
  // Determinants that are replayed are at the keeper already.
  bool waits_for_image() const { return !replaying() && next_determinant_ - in_stable_image_ >= config_.determinants_after_image; }

  struct PendingEffect {
    Effect effect;
    std::size_t bytes;
    std::uint64_t determinants_before;
    std::uint64_t age;  // effects of all streams emitted before
  };
  struct Outbox {
    std::uint64_t next_sequence = 1;
    std::deque<PendingEffect> effects;
    std::size_t bytes = 0;
    std::size_t taken = 0;  // how many of them have been taken
  };

  void add(Outbox& outbox, Effect effect, std::uint64_t determinants_before);
  const PendingEffect* sendable_head(const Stream& stream, const Outbox& outbox) const;
  bool others_stored(const Stream& stream) const;
  std::size_t most_effects(const Stream& stream) const;

  Config config_;
  ThreadId thread_;
  std::uint64_t epoch_;
  std::string job_;

  std::map<Stream, Outbox> streams_;  // those in which something was emitted
  std::uint64_t next_age_ = 0;

  std::uint64_t next_determinant_ = 0;
  std::uint64_t stable_determinants_ = 0;
  std::uint64_t in_stable_image_ = 0;
  std::deque<Determinant> replay_;     // not answered yet
  std::vector<Determinant> recorded_;  // not taken yet

  std::uint64_t input_pieces_ = 0;
  std::uint64_t input_bytes_ = 0;  // in them
  std::uint64_t mail_ = 0;
};

// The state of a gate that is saved; raised when its form changes (docs/image-format.md, "Job state").
inline constexpr std::uint32_t kGateStateVersion = 3;
// That of a thread which has neither sent nor taken messages: as of godwits that know none.
inline constexpr std::uint32_t kGateStateWithoutMail = 2;
// Kind::unsupported: it was saved by another version of godwit.
Status check_version(const wire::pb::GateState& state);

// "output of 12 bytes to stdout": for messages.
std::string describe(const Effect& effect);

}  // namespace gw::job
