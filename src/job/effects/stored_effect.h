#pragma once
// An effect as home writes it down: a header that says all that home itself needs, and the bytes that people read.

#include <cstdint>
#include <string>

#include "job/effects/effect_gate.h"
#include "job/names.h"

namespace gw::job {

enum class EffectKind : std::uint8_t { output = 1, errors = 2, report = 3, file = 4, spawn = 5, end = 6, details = 7 };

// The disk space that an entry takes besides its bytes.
inline constexpr std::uint32_t kEntryOverhead = 64;

struct StoredEffect {
  ThreadId thread;
  std::uint64_t epoch = 0;
  Stream stream = kHomeStream;
  std::uint64_t sequence = 0;  // in the stream
  EffectKind kind = EffectKind::output;
  std::uint32_t bytes = 0;   // that follow the header
  std::uint64_t digest = 0;  // of the effect, by which a replay is compared

  std::uint64_t stored_bytes() const { return kEntryOverhead + bytes; }
  bool operator==(const StoredEffect&) const = default;
};

// Bytes: of output those that were printed, of a file its frame (wire/messages/output_file_frames.h), of everything else the encoded
// effect.
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

// Kind::corrupt if the bytes are not what the header says.
Result<Effect> effect_of(const EffectEntry& entry);

// Describes an effect of which only the header is at hand, for people.
std::string describe(const StoredEffect& effect);

}  // namespace gw::job
