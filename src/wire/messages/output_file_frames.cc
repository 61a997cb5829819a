#include "wire/messages/output_file_frames.h"

#include "base/bytes.h"
#include "wire/messages/streams.h"
#include "wire/messages/worker_frames.h"

namespace gw::wire {
namespace {

constexpr std::size_t kLengthBytes = 4;

std::uint32_t length_of(std::string_view frame) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::uint32_t{static_cast<std::uint8_t>(frame[i])} << (8 * i);
  return length;
}

// The thread alone, encoded: a message followed by another one of its kind is the sum of both.
std::string encode_thread(std::uint64_t thread) {
  pb::Effect::OutputFile only;
  only.set_thread(thread);
  return only.SerializeAsString();
}

Result<pb::Effect> parse(std::string_view message) {
  pb::Effect effect;
  if (!effect.mutable_file()->ParseFromArray(message.data(), static_cast<int>(message.size())))
    return fail(Kind::corrupt, "a piece of an output file cannot be read");
  effect.set_thread(1);
  effect.set_epoch(1);
  set_stream(effect);
  effect.set_sequence(1);
  const std::uint64_t thread = effect.file().thread();
  effect.mutable_file()->clear_thread();
  if (Status right = check_effect(effect); !right) return fail(Kind::corrupt, "{}", right.error().detail);
  effect.mutable_file()->set_thread(thread);
  return effect;
}

}  // namespace

std::size_t output_file_frame_bytes(const pb::Effect::OutputFile& piece, std::uint64_t thread) {
  return kLengthBytes + piece.ByteSizeLong() + encode_thread(thread).size();
}

std::string frame_output_file(const pb::Effect::OutputFile& piece, std::uint64_t thread) {
  const std::string message = piece.SerializeAsString() + encode_thread(thread);
  std::string frame;
  for (std::size_t i = 0; i < kLengthBytes; ++i) frame.push_back(static_cast<char>(message.size() >> (8 * i)));
  return frame + message;
}

Status OutputFileReader::add(std::string_view bytes, const Take& take) {
  pending_ += bytes;
  std::string_view rest = pending_;
  while (rest.size() >= kLengthBytes) {
    const std::size_t length = length_of(rest);
    if (length > kMaxFrameBytes) return fail(Kind::corrupt, "a piece of an output file has {} bytes, which is too long", length);
    if (rest.size() < kLengthBytes + length) break;
    GW_TRY(const pb::Effect effect, parse(rest.substr(kLengthBytes, length)));
    GW_TRY_VOID(take(effect.file()));
    rest.remove_prefix(kLengthBytes + length);
  }
  pending_.erase(0, pending_.size() - rest.size());
  return ok();
}

}  // namespace gw::wire
