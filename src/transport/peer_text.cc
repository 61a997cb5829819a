#include "transport/peer_text.h"

#include <algorithm>

namespace gw::transport {

std::string_view shortened(std::string_view sentence) { return sentence.substr(0, kMaxSentenceBytes); }

std::string printable(ByteView from_peer) {
  std::string text(shortened(as_text(from_peer)));
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

Bytes encode_refusal(const Error& error) {
  ByteWriter payload;
  payload.u8(static_cast<std::uint8_t>(error.kind));
  payload.bytes(as_bytes(shortened(error.detail)));
  return payload.take();
}

Error decode_refusal(ByteView payload) {
  ByteReader reader(payload);
  auto kind = reader.u8();
  bool known = kind && *kind <= static_cast<std::uint8_t>(Kind::internal);
  return {known ? static_cast<Kind>(*kind) : Kind::internal, printable(payload.subspan(reader.position()))};
}

}  // namespace gw::transport
