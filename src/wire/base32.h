#pragma once
// Base 32 of RFC 4648 in lower case, without padding: for text that users paste or read aloud.

#include <string>

#include "base/bytes.h"

namespace gw::wire {

std::string base32(ByteView bytes);

// Takes capital letters, too. Kind::invalid: another character, or a length or last character that base32() never makes.
Result<Bytes> parse_base32(std::string_view text);

}  // namespace gw::wire
