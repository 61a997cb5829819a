#include "job/effects/stored_effect.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "wire/messages/output_file_frames.h"

namespace gw::job {
namespace {

std::string bytes_of(const Effect& effect) {
  if (effect.has_output()) return effect.output().bytes();
  if (effect.has_file()) return wire::frame_output_file(effect.file(), effect.thread());
  if (!effect.has_end()) return effect.SerializeAsString();
  wire::pb::EndRecord record;
  *record.mutable_end() = effect.end();
  return record.SerializeAsString();
}

StoredEffect header_without_digest(const Effect& effect) {
  return {.thread = ThreadId{effect.thread()},
          .epoch = effect.epoch(),
          .stream = wire::stream_of(effect),
          .sequence = effect.sequence(),
          .kind = kind_of(effect),
          .digest = kNoDigest};
}

EffectEntry with_facts(StoredEffect header, const Effect::End& end, const EndFacts& facts) {
  wire::pb::EndRecord record;
  *record.mutable_end() = end;
  record.set_host(facts.host.bytes());
  record.set_ended_at_ns(static_cast<std::uint64_t>(facts.ended_at.count()));
  record.set_run_time_ns(static_cast<std::uint64_t>(std::max(facts.run_time, Time(0)).count()));
  record.set_attempts(facts.attempts);
  EffectEntry entry{.header = header, .bytes = record.SerializeAsString()};
  entry.header.bytes = static_cast<std::uint32_t>(entry.bytes.size());
  entry.header.host = tag_of(facts.host);
  return entry;
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
    case Effect::kMessage:
      return EffectKind::message;
    case Effect::kWatch:
      return EffectKind::watch;
    case Effect::KIND_NOT_SET:
      break;
  }
  GW_ASSERT(false);
  return EffectKind::end;
}

std::size_t entry_bytes(const Effect& effect) {
  if (effect.has_output()) return effect.output().bytes().size();
  if (effect.has_file()) return wire::output_file_frame_bytes(effect.file(), effect.thread());
  return effect.has_end() ? bytes_of(effect).size() : effect.ByteSizeLong();
}

std::uint64_t tag_of(const PeerId& peer) {
  std::uint64_t tag = 0;
  for (std::size_t i = 0; i < sizeof tag; ++i) tag |= std::uint64_t{peer.hash.bytes[i]} << (8 * i);
  return tag;
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
  if (kind == EffectKind::message || kind == EffectKind::watch) return kMailStream;
  return {.kind = wire::stream_kind_of(kind == EffectKind::spawn ? Effect::kSpawn
                                       : kind == EffectKind::end ? Effect::kEnd
                                                                 : Effect::kOutput)};
}

StoredEffect header_of(const Effect& effect) {
  StoredEffect header = header_without_digest(effect);
  header.bytes = static_cast<std::uint32_t>(entry_bytes(effect));
  header.digest = digest_of(effect);
  return header;
}

EffectEntry entry_of(const Effect& effect) { return {.header = header_of(effect), .bytes = bytes_of(effect)}; }

EffectEntry task_entry(const Effect& effect) {
  EffectEntry entry{.header = header_without_digest(effect), .bytes = bytes_of(effect)};
  entry.header.bytes = static_cast<std::uint32_t>(entry.bytes.size());
  return entry;
}

EffectEntry end_entry(const Effect& effect, const EndFacts& facts) {
  return with_facts(header_without_digest(effect), effect.end(), facts);
}

EffectEntry attempt_entry(const Effect& effect, const EndFacts& facts) {
  StoredEffect header = header_without_digest(effect);
  header.kind = EffectKind::attempt;
  return with_facts(header, effect.end(), facts);
}

Result<wire::pb::EndRecord> end_record_of(const EffectEntry& entry) {
  wire::pb::EndRecord record;
  const bool known = record.ParseFromString(entry.bytes) && (record.host().empty() || record.host().size() == sizeof(Hash256));
  if (!known) return fail(Kind::corrupt, "the end of thread {} is not what was stored", entry.header.thread.value());
  return record;
}

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
      effect.mutable_file()->clear_thread();
      return ok();
    });
    whole = read && reader.complete();
  } else if (entry.header.kind == EffectKind::end) {
    const auto record = end_record_of(entry);
    whole = record.has_value();
    if (whole) *effect.mutable_end() = record->end();
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
    case EffectKind::attempt:
      return "a run that failed";
    case EffectKind::message:
      return fmt::format("a message of {} bytes", effect.bytes);
    case EffectKind::watch:
      return "a watch";
  }
  return "something else";
}

}  // namespace gw::job
