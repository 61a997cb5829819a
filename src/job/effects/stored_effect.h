#pragma once
// An effect as home writes it down: a header that says all that home itself needs, and the bytes that people read.

#include <cstdint>
#include <string>

#include "job/effects/effect_gate.h"
#include "job/names.h"
#include "wire/records.pb.h"

namespace gw::job {

enum class EffectKind : std::uint8_t {
  output = 1,
  errors = 2,
  report = 3,
  file = 4,
  spawn = 5,
  end = 6,
  details = 7,
  attempt = 8,
  message = 9,
  watch = 10
};

// The disk space that an entry takes besides its bytes.
inline constexpr std::uint32_t kEntryOverhead = 72;

struct StoredEffect {
  ThreadId thread;
  std::uint64_t epoch = 0;
  Stream stream = kHomeStream;
  std::uint64_t sequence = 0;  // in the stream
  EffectKind kind = EffectKind::output;
  std::uint32_t bytes = 0;   // that follow the header
  std::uint64_t digest = 0;  // of the effect, by which a replay is compared
  std::uint64_t host = 0;    // of an end or attempt: tag_of() its host; 0: not known

  std::uint64_t stored_bytes() const { return kEntryOverhead + bytes; }
  bool operator==(const StoredEffect&) const = default;
};

// The first bytes of a peer's id, by which the peers of one job are told apart in headers.
std::uint64_t tag_of(const PeerId& peer);

// Bytes: of output those that were printed, of a file its frame (wire/messages/output_file_frames.h), of an end or attempt a pb::EndRecord,
// of everything else the encoded effect.
struct EffectEntry {
  StoredEffect header;
  std::string bytes;
};

// The last entry of a job that is over: a pb::JobRecord with its threads and peers, which is read only on request.
EffectEntry details_entry(std::string bytes);

// The stream that an effect of this kind belongs to (wire::stream_of).
Stream stream_of(EffectKind kind);

// The digest of an entry that stands for an effect whose content was not kept: a replay is not compared with it.
inline constexpr std::uint64_t kNoDigest = 0;
// A digest of everything but the epoch, which is another one in a replay, the child's first image, which is saved anew or not at all, and
// the sentence of an end: where a stack overflows depends on the engine.
std::uint64_t digest_of(const Effect& effect);

// REQUIRES of the next four: the effect has a kind.
EffectKind kind_of(const Effect& effect);
StoredEffect header_of(const Effect& effect);
// How many bytes its entry has.
std::size_t entry_bytes(const Effect& effect);
EffectEntry entry_of(const Effect& effect);

// The facts about the end of a task or thread that its home adds.
struct EndFacts {
  PeerId host;
  Time ended_at{0};  // since 1970
  Time run_time{0};
  std::uint32_t attempts = 1;
};
// REQUIRES of both: the effect is an end.
EffectEntry end_entry(const Effect& effect, const EndFacts& facts);
// A run of a task that has failed and is repeated: all earlier entries of the thread are void.
EffectEntry attempt_entry(const Effect& effect, const EndFacts& facts);
// REQUIRES: the entry is an end or attempt. Kind::corrupt.
Result<wire::pb::EndRecord> end_record_of(const EffectEntry& entry);
// An effect of the result of a task, which no replay is compared with.
EffectEntry task_entry(const Effect& effect);

// Kind::corrupt if the bytes are not what the header says.
Result<Effect> effect_of(const EffectEntry& entry);

// Describes an effect of which only the header is at hand, for people.
std::string describe(const StoredEffect& effect);

}  // namespace gw::job
