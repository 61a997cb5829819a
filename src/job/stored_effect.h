#pragma once
// An effect as home writes it down: a header that says all that home itself needs, and the bytes that people read.

#include <cstdint>
#include <string>

#include "job/effect_gate.h"
#include "job/names.h"

namespace gw::job {

enum class EffectKind : std::uint8_t { output = 1, errors = 2, report = 3, file = 4, fork = 5, end = 6 };

struct StoredEffect {
  ThreadId thread;
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  EffectKind kind = EffectKind::output;
  std::uint32_t bytes = 0;   // that follow the header
  std::uint64_t digest = 0;  // of the effect, by which a replay is compared

  bool operator==(const StoredEffect&) const = default;
};

// Bytes: of output those that were printed, of a file its frame (wire/output_file_frames.h), of everything else the encoded effect.
struct EffectEntry {
  StoredEffect header;
  std::string bytes;
};

// Of everything but the epoch, which is another one in a replay, and the child's first image, which is saved anew or not at all.
std::uint64_t digest_of(const Effect& effect);

// REQUIRES of the next three: the effect has a kind.
EffectKind kind_of(const Effect& effect);
// How many bytes its entry has.
std::size_t entry_bytes(const Effect& effect);
EffectEntry entry_of(const Effect& effect);

// Kind::corrupt if the bytes are not what the header says.
Result<Effect> effect_of(const EffectEntry& entry);

// For people: what an effect was of which only the header is at hand.
std::string describe(const StoredEffect& effect);

}  // namespace gw::job
