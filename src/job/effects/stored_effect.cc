#include "job/effects/stored_effect.h"

#include "base/check.h"
#include "base/hash.h"
#include "wire/messages/output_file_frames.h"

namespace gw::job {
namespace {

std::string bytes_of(const Effect& effect) {
  if (effect.has_output()) return effect.output().bytes();
  if (effect.has_file()) return wire::frame_output_file(effect.file());
  return effect.SerializeAsString();
}

}  // namespace

EffectKind kind_of(const Effect& effect) {
  switch (effect.kind_case()) {
    case Effect::kOutput:
      return effect.output().descriptor() == 1 ? EffectKind::output : EffectKind::errors;
    case Effect::kReport:
      return EffectKind::report;
    case Effect::kFile:
      return EffectKind::file;
    case Effect::kSpawn:
      return EffectKind::spawn;
    case Effect::kEnd:
      return EffectKind::end;
    case Effect::KIND_NOT_SET:
      break;
  }
  GW_ASSERT(false);
  return EffectKind::end;
}

std::size_t entry_bytes(const Effect& effect) {
  if (effect.has_output()) return effect.output().bytes().size();
  return effect.has_file() ? wire::output_file_frame_bytes(effect.file()) : effect.ByteSizeLong();
}

std::uint64_t digest_of(const Effect& effect) {
  Effect compared = effect;
  compared.clear_epoch();
  if (compared.has_spawn()) compared.mutable_spawn()->clear_image();
  if (compared.has_end()) compared.mutable_end()->clear_sentence();
  const std::string bytes = compared.SerializeAsString();
  const Hash256 hash = sha256(as_bytes(bytes));
  std::uint64_t digest = 0;
  for (std::size_t i = 0; i < sizeof digest; ++i) digest |= std::uint64_t{hash.bytes[i]} << (8 * i);
  return digest;
}

Stream stream_of(EffectKind kind) {
  return {.kind = wire::stream_kind_of(kind == EffectKind::spawn ? Effect::kSpawn
                                       : kind == EffectKind::end ? Effect::kEnd
                                                                 : Effect::kOutput)};
}

StoredEffect header_of(const Effect& effect) {
  return {.thread = ThreadId{effect.thread()},
          .epoch = effect.epoch(),
          .stream = wire::stream_of(effect),
          .sequence = effect.sequence(),
          .kind = kind_of(effect),
          .bytes = static_cast<std::uint32_t>(entry_bytes(effect)),
          .digest = digest_of(effect)};
}

EffectEntry entry_of(const Effect& effect) { return {.header = header_of(effect), .bytes = bytes_of(effect)}; }

EffectEntry details_entry(std::string bytes) {
  EffectEntry entry{.header = {.kind = EffectKind::details}, .bytes = std::move(bytes)};
  entry.header.bytes = static_cast<std::uint32_t>(entry.bytes.size());
  return entry;
}

Result<Effect> effect_of(const EffectEntry& entry) {
  Effect effect;
  bool whole = true;
  if (entry.header.kind == EffectKind::output || entry.header.kind == EffectKind::errors) {
    effect.mutable_output()->set_descriptor(entry.header.kind == EffectKind::output ? 1 : 2);
    effect.mutable_output()->set_bytes(entry.bytes);
  } else if (entry.header.kind == EffectKind::file) {
    wire::OutputFileReader reader;
    const Status read = reader.add(entry.bytes, [&](const wire::pb::Effect::OutputFile& piece) {
      *effect.mutable_file() = piece;
      return ok();
    });
    whole = read && reader.complete();
  } else {
    whole = effect.ParseFromString(entry.bytes);
  }
  effect.set_thread(entry.header.thread.value());
  effect.set_epoch(entry.header.epoch);
  wire::write(entry.header.stream, *effect.mutable_stream());
  effect.set_sequence(entry.header.sequence);
  if (!whole || effect.kind_case() == Effect::KIND_NOT_SET || !wire::is_in_its_stream(effect) ||
      (entry.header.digest != kNoDigest && digest_of(effect) != entry.header.digest))
    return fail(Kind::corrupt, "effect {} of thread {} is not what was stored", entry.header.sequence, entry.header.thread.value());
  return effect;
}

std::string describe(const StoredEffect& effect) {
  switch (effect.kind) {
    case EffectKind::output:
      return fmt::format("{} bytes on standard output", effect.bytes);
    case EffectKind::errors:
      return fmt::format("{} bytes on standard error", effect.bytes);
    case EffectKind::report:
      return "a report";
    case EffectKind::file:
      return "a piece of an output file";
    case EffectKind::spawn:
      return fmt::format("the spawn of thread {}", child_of(effect.thread, effect.sequence).value());
    case EffectKind::end:
      return "its end";
    case EffectKind::details:
      return "the list of its threads";
  }
  return "something else";
}

}  // namespace gw::job
