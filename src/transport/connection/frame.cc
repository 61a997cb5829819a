#include "transport/connection/frame.h"

#include <algorithm>
#include <cstring>

namespace gw::transport {
namespace {

constexpr std::uint8_t kBulkFlag = 1, kMoreFlag = 2;
constexpr std::size_t kReadBytes = 16u << 10;  // TLS gives no more than one record of this size at once
constexpr std::size_t kMaxShortPayload = 1024;

std::uint32_t u32_at(ByteView bytes, std::size_t position) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(bytes[position + i]) << (8 * i);
  return value;
}

void append_u32(Bytes& to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

bool carries_message(FrameKind kind) { return kind == FrameKind::message || kind == FrameKind::request || kind == FrameKind::answer; }

bool is_of_circuit(FrameKind kind) { return kind >= FrameKind::circuit_open && kind <= FrameKind::circuit_close; }

bool names_stream(FrameKind kind) {
  return kind == FrameKind::request || kind == FrameKind::answer || kind == FrameKind::refusal || is_of_circuit(kind);
}

bool is_known(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(FrameKind::hello) && kind <= static_cast<std::uint8_t>(FrameKind::circuit_close);
}

std::size_t longest_payload(FrameKind kind) {
  if (carries_message(kind)) return kMaxFramePayload;
  return kind == FrameKind::circuit_data ? kMaxCircuitPayload : kMaxShortPayload;
}

struct Header {
  Frame frame;  // without its payload
  std::size_t length = 0;
};

// Everything that can be said about a frame before its payload is there, so that no memory is held for one that will be refused.
Result<Header> parse_header(ByteView bytes) {
  Header header{.length = u32_at(bytes, 0)};
  std::uint8_t kind = bytes[4], flags = bytes[5];
  if (!is_known(kind)) return fail(Kind::invalid, "a frame of unknown kind {} came", kind);
  if ((flags & ~(kBulkFlag | kMoreFlag)) != 0) return fail(Kind::invalid, "a frame with unknown flags {:#x} came", flags);
  header.frame = {.kind = static_cast<FrameKind>(kind),
                  .lane = (flags & kBulkFlag) != 0 ? Lane::bulk : Lane::control,
                  .more = (flags & kMoreFlag) != 0,
                  .stream = u32_at(bytes, 6)};
  const Frame& frame = header.frame;
  std::size_t limit = longest_payload(frame.kind);
  if (header.length > limit) return fail(Kind::invalid, "a frame of kind {} has {} bytes, more than {}", kind, header.length, limit);
  if (!carries_message(frame.kind) && flags != 0) return fail(Kind::invalid, "a frame of kind {} has flags {:#x}", kind, flags);
  if (frame.more && header.length == 0) return fail(Kind::invalid, "an empty frame says that more follow");
  if (names_stream(frame.kind) != (frame.stream != 0)) return fail(Kind::invalid, "a frame of kind {} has stream {}", kind, frame.stream);
  return header;
}

}  // namespace

void append_frame(Bytes& to, const Frame& frame) {
  GW_ASSERT(frame.payload.size() <= kMaxFramePayload);
  append_u32(to, static_cast<std::uint32_t>(frame.payload.size()));
  to.push_back(static_cast<std::uint8_t>(frame.kind));
  to.push_back(static_cast<std::uint8_t>((frame.lane == Lane::bulk ? kBulkFlag : 0) | (frame.more ? kMoreFlag : 0)));
  append_u32(to, frame.stream);
  to.insert(to.end(), frame.payload.begin(), frame.payload.end());
}

std::span<std::uint8_t> FrameDecoder::space() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + kReadBytes) buffer_.resize(end_ + kReadBytes);
  return std::span(buffer_).subspan(end_);
}

void FrameDecoder::filled(std::size_t count) {
  GW_ASSERT(count <= buffer_.size() - end_);
  end_ += count;
}

Result<std::optional<Frame>> FrameDecoder::next() {
  ByteView bytes = pending();
  if (bytes.size() < kFrameHeaderBytes) return std::optional<Frame>();
  GW_TRY(Header header, parse_header(bytes));
  if (bytes.size() - kFrameHeaderBytes < header.length) return std::optional<Frame>();
  header.frame.payload = bytes.subspan(kFrameHeaderBytes, header.length);
  begin_ += kFrameHeaderBytes + header.length;
  return std::optional(header.frame);
}

}  // namespace gw::transport
