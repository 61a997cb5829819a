#pragma once
// Sentences that travel between peers: short, and harmless in a log or on a terminal.

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace gw::transport {

inline constexpr std::size_t kMaxSentenceBytes = 500;

std::string_view shortened(std::string_view sentence);

// Everything but printable ASCII becomes '?'.
std::string printable(ByteView from_peer);

// The payload of a refusal frame. A kind of error that this version does not know counts as Kind::internal.
Bytes encode_refusal(const Error& error);
Error decode_refusal(ByteView payload);

}  // namespace gw::transport
