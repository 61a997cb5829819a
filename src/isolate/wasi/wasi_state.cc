#include "isolate/wasi/wasi_state.h"

#include <algorithm>

#include "isolate/files/file_tree_codec.h"

namespace gw::isolate {
namespace {

constexpr std::uint8_t kVersion = 2;

Status check_strings(std::string_view what, const std::vector<std::string>& strings) {
  if (strings.size() > kMaxStrings)
    return fail(Kind::invalid, "there are {} {}, at most {} are possible", strings.size(), what, kMaxStrings);
  std::size_t total = 0;
  for (const std::string& text : strings) {
    if (text.find('\0') != std::string::npos) return fail(Kind::invalid, "one of the {} contains a character 0", what);
    total += text.size() + 1;
  }
  if (total > kMaxStringBytes) return fail(Kind::invalid, "the {} have {} bytes, at most {} are possible", what, total, kMaxStringBytes);
  return ok();
}

void write_strings(ByteWriter& writer, const std::vector<std::string>& strings) {
  writer.u32(static_cast<std::uint32_t>(strings.size()));
  for (const std::string& text : strings) writer.string(text);
}

Result<std::vector<std::string>> read_strings(ByteReader& reader) {
  GW_TRY(std::uint32_t count, reader.u32());
  if (count > kMaxStrings) return fail(Kind::corrupt, "the WASI state holds {} strings in one list", count);
  std::vector<std::string> strings;
  for (std::uint32_t i = 0; i < count; i++) {
    GW_TRY(std::string text, reader.string());
    strings.push_back(std::move(text));
  }
  return strings;
}

Result<GuestRandom> read_random(ByteReader& reader) {
  GW_TRY(ByteView bytes, reader.bytes(32));
  GuestRandom::Seed seed;
  std::copy(bytes.begin(), bytes.end(), seed.begin());
  GW_TRY(std::uint64_t position, reader.u64());
  return GuestRandom(seed, position);
}

void write_descriptors(ByteWriter& writer, const DescriptorTable& descriptors) {
  writer.u32(static_cast<std::uint32_t>(descriptors.all().size()));
  for (const auto& [number, descriptor] : descriptors.all()) {
    writer.u32(number);
    writer.u8(static_cast<std::uint8_t>(descriptor.kind));
    writer.u8(descriptor.preopened ? 1 : 0);
    writer.u16(descriptor.flags);
    writer.u64(descriptor.rights);
    writer.u64(descriptor.inheriting);
    writer.u64(descriptor.node);
    writer.u64(descriptor.offset);
  }
}

Result<Descriptor> read_descriptor(ByteReader& reader, const FileTree& files) {
  Descriptor descriptor;
  GW_TRY(std::uint8_t kind, reader.u8());
  GW_TRY(std::uint8_t preopened, reader.u8());
  descriptor.kind = static_cast<Descriptor::Kind>(kind);
  descriptor.preopened = preopened != 0;
  GW_TRY(descriptor.flags, reader.u16());
  GW_TRY(descriptor.rights, reader.u64());
  GW_TRY(descriptor.inheriting, reader.u64());
  GW_TRY(descriptor.node, reader.u64());
  GW_TRY(descriptor.offset, reader.u64());
  bool of_node = descriptor.kind == Descriptor::Kind::node;
  bool plausible = kind <= 3 && preopened <= 1 && descriptor.flags <= fd_flag::kAll && descriptor.offset <= INT64_MAX &&
                   (of_node ? files.find(descriptor.node) != nullptr : descriptor.node == 0 && descriptor.offset == 0 && preopened == 0);
  if (!plausible) return fail(Kind::corrupt, "a descriptor in the image is not one that can be open; use another copy");
  return descriptor;
}

Status read_descriptors(ByteReader& reader, WasiState& state) {
  state.descriptors = DescriptorTable();
  GW_TRY(std::uint32_t count, reader.u32());
  std::uint64_t least = 0;
  for (std::uint32_t i = 0; i < count; i++) {
    GW_TRY(std::uint32_t number, reader.u32());
    GW_TRY(Descriptor descriptor, read_descriptor(reader, state.files));
    if (number < least || number >= DescriptorTable::kMax)
      return fail(Kind::corrupt, "the descriptors in the image are not in order; use another copy");
    if (descriptor.kind == Descriptor::Kind::node) state.files.open(descriptor.node);
    state.descriptors.put(number, descriptor);
    least = std::uint64_t{number} + 1;
  }
  return FileTreeCodec::check_reachable(state.files);
}

// The rules that the types cannot express: the state must be one that encode() can have written.
Status check_decoded(const WasiState& state, std::uint8_t input_ended) {
  bool with_deadline =
      state.parked == ParkedCall::sleep || state.parked == ParkedCall::forked_parent || state.parked == ParkedCall::timed_mail;
  bool plausible = state.parked <= ParkedCall::timed_mail && input_ended <= 1 && (with_deadline || state.deadline == 0) &&
                   (state.parked == ParkedCall::sleep || state.sleeper == 0) && (state.parked == ParkedCall::chunk || state.progress == 0);
  if (!plausible) return fail(Kind::corrupt, "the WASI state of the image contradicts itself; use another copy");
  return check(state);
}

}  // namespace

Status check(const GuestStart& start) {
  GW_TRY_VOID(check_strings("outputs", start.outputs));
  GW_TRY_VOID(check_strings("arguments", start.args));
  return check_strings("environment variables", start.env);
}

Status check(const WasiState& state) {
  GW_TRY_VOID(check_strings("arguments", state.args));
  GW_TRY_VOID(check_strings("environment variables", state.env));
  GW_TRY_VOID(check_strings("outputs", state.outputs));
  if (state.input.size() > kMaxInputBytes)
    return fail(Kind::invalid, "the standard input has {} bytes, at most {} can be kept in an isolate", state.input.size(), kMaxInputBytes);
  return ok();
}

Bytes encode(const WasiState& state) {
  ByteWriter writer;
  writer.u8(kVersion);
  writer.u8(static_cast<std::uint8_t>(state.parked));
  writer.u8(state.input_ended ? 1 : 0);
  writer.u64(state.deadline);
  writer.u32(state.sleeper);
  writer.u64(state.progress);
  writer.u64(state.monotonic);
  writer.u64(state.output_bytes);
  writer.bytes(state.random.seed());
  writer.u64(state.random.position());
  writer.string(as_text(state.input));
  write_strings(writer, state.args);
  write_strings(writer, state.env);
  write_strings(writer, state.outputs);
  FileTreeCodec::encode(state.files, writer);
  write_descriptors(writer, state.descriptors);
  return writer.take();
}

Result<WasiState> decode_wasi_state(ByteView bytes) {
  ByteReader reader(bytes);
  GW_TRY(std::uint8_t version, reader.u8());
  if (version != kVersion)
    return fail(Kind::unsupported, "the WASI state has version {}, this program reads version {}", version, kVersion);
  WasiState state;
  GW_TRY(std::uint8_t parked, reader.u8());
  state.parked = static_cast<ParkedCall>(parked);
  GW_TRY(std::uint8_t input_ended, reader.u8());
  state.input_ended = input_ended != 0;
  GW_TRY(state.deadline, reader.u64());
  GW_TRY(state.sleeper, reader.u32());
  GW_TRY(state.progress, reader.u64());
  GW_TRY(state.monotonic, reader.u64());
  GW_TRY(state.output_bytes, reader.u64());
  GW_TRY(state.random, read_random(reader));
  GW_TRY(std::string input, reader.string());
  state.input.assign(input.begin(), input.end());
  GW_TRY(state.args, read_strings(reader));
  GW_TRY(state.env, read_strings(reader));
  GW_TRY(state.outputs, read_strings(reader));
  GW_TRY(state.files, FileTreeCodec::decode(reader));
  GW_TRY_VOID(read_descriptors(reader, state));
  if (!reader.at_end()) return fail(Kind::corrupt, "the WASI state of the image has {} bytes too many", reader.remaining());
  GW_TRY_VOID(check_decoded(state, input_ended));
  return state;
}

}  // namespace gw::isolate
