#include "gateway/output_frames.h"

#include "base/bytes.h"

namespace gw::gateway {
namespace {

constexpr std::size_t kSizeBytes = 4;

std::size_t size_at(std::string_view bytes) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < kSizeBytes; ++i) size |= std::size_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
  return size;
}

}  // namespace

std::string encode_frame(const node::OutputFrame& frame, std::uint32_t array) {
  wire::pb::OutputFrame message;
  message.set_thread(frame.thread.value());
  const auto task = job::task_of_thread(frame.thread, array);
  message.set_task(task ? std::int64_t{*task} : -1);
  message.set_stream(static_cast<std::uint32_t>(frame.stream));
  message.set_bytes(frame.bytes);
  message.set_next(frame.next);
  const std::string body = message.SerializeAsString();
  std::string bytes;
  for (std::size_t i = 0; i < kSizeBytes; ++i) bytes += static_cast<char>(body.size() >> (8 * i));
  return bytes + body;
}

Status FrameReader::add(std::string_view bytes, const std::function<void(const wire::pb::OutputFrame&)>& take) {
  pending_.append(bytes);
  std::size_t at = 0;
  while (pending_.size() - at >= kSizeBytes) {
    const std::size_t size = size_at(std::string_view(pending_).substr(at));
    if (size > kMaxFrame)
      return fail(Kind::corrupt, "the daemon sent a frame of {} bytes: use the same version of godwit and the daemon", size);
    if (pending_.size() - at - kSizeBytes < size) break;
    wire::pb::OutputFrame frame;
    const bool known =
        frame.ParseFromArray(pending_.data() + at + kSizeBytes, static_cast<int>(size)) && frame.stream() >= 1 && frame.stream() <= 2;
    if (!known) return fail(Kind::corrupt, "the daemon sent a frame that cannot be read: use the same version of godwit and the daemon");
    take(frame);
    at += kSizeBytes + size;
  }
  pending_.erase(0, at);
  return ok();
}

}  // namespace gw::gateway
