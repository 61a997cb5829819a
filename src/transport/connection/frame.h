#pragma once
// The format of the bytes between two peers inside TLS: frames, each a header of ten bytes and a payload of at most 64 KiB.
//
//   u32 length of the payload | u8 kind | u8 flags | u32 stream | payload
//
// Flags: bit 0 the bulk lane (else control), bit 1 more frames of this message follow. A message is cut into frames so that one of the
// control lane never waits behind more than a frame of bulk. The frames of one lane are in order and of one message at a time, so a
// receiver holds at most two unfinished messages. A request and its answer carry the same stream number, chosen by the side that asks.
//
// Frames of circuits (relay/circuit.h, relay/relay.h) have the circuit's number in the place of a stream: odd if the side that dialled the
// connection has chosen it. Each end may have kCircuitCredit bytes under way; the other end gives credit for what it has taken.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"

namespace gw::transport {

inline constexpr std::size_t kMaxMessageBytes = 2u << 20;
inline constexpr std::size_t kMaxFramePayload = 64u << 10;
inline constexpr std::size_t kFrameHeaderBytes = 10;
inline constexpr std::size_t kMaxCircuitPayload = 16u << 10;
inline constexpr std::size_t kCircuitCredit = 256u << 10;

// Control goes before bulk, and that before what belongs to circuits.
enum class Lane : std::uint8_t { control, bulk, relayed };
inline constexpr std::size_t kLanes = 3;

enum class FrameKind : std::uint8_t {
  hello = 1,  // the first frame in each direction
  message,    // one way; stream 0
  request,
  answer,
  refusal,  // of a request: u8 error kind, then a sentence
  ping,     // u64, which the pong repeats
  pong,
  goodbye,  // the last frame: u8 reason, then a sentence
  credit,   // u64: how many bytes of bulk were taken since the connection began

  call,            // to an anchor: ask that peer to dial the sender: its id, u16 port of the sender
  called,          // from an anchor: a peer asks to be dialled: its id, then the address from which the anchor sees it
  circuit_open,    // to a relay: open a circuit to that peer: its id
  circuit_offer,   // from a relay: that peer opens a circuit: its id
  circuit_data,    // at most kMaxCircuitPayload bytes
  circuit_credit,  // u32 bytes were taken
  circuit_close,   // as refusal
};

struct Frame {
  FrameKind kind = FrameKind::message;
  Lane lane = Lane::control;
  bool more = false;
  std::uint32_t stream = 0;
  ByteView payload;
};

// REQUIRES: frame.payload.size() <= kMaxFramePayload.
void append_frame(Bytes& to, const Frame& frame);

// Cuts a stream of bytes into frames. Takes memory for a payload only as far as its bytes may come: one frame and one read.
//
//   read into space(), then filled(n), then next() until it gives nothing.
//
// Kind::invalid: the sender broke the format; the connection is of no further use.
class FrameDecoder {
 public:
  // Where the next bytes go; never empty. REQUIRES: next() gave nothing since the last call of filled().
  std::span<std::uint8_t> space();
  void filled(std::size_t count);

  // The payload is valid until space() is called.
  Result<std::optional<Frame>> next();

 private:
  ByteView pending() const { return ByteView(buffer_).subspan(begin_, end_ - begin_); }

  Bytes buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what came and has not been given out
};

}  // namespace gw::transport
