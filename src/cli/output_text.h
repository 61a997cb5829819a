#pragma once
// Bytes of a program as JSON.

#include "base/bytes.h"
#include "cli/console.h"

namespace gw::cli {

// {"text": ...} if the bytes are UTF-8, else {"base64": ...}.
Json bytes_as_json(ByteView bytes);

// Of the front of `bytes`: how many of them are whole UTF-8 characters.
std::size_t utf8_prefix(ByteView bytes);

std::string base64(ByteView bytes);

}  // namespace gw::cli
