#pragma once
// Bytes of a program as JSON.

#include <utility>

#include "base/bytes.h"
#include "cli/console/console.h"

namespace gw::cli {

// {"text": ...} if the bytes are UTF-8, else {"base64": ...}.
Json bytes_as_json(ByteView bytes);

// Of the front of `bytes`: how many of them are whole UTF-8 characters.
std::size_t utf8_prefix(ByteView bytes);

std::string base64(ByteView bytes);

// Bytes that come in pieces, given on without cutting characters in two: the beginning of one waits for its rest.
class Utf8Pieces {
 public:
  Bytes take(ByteView bytes);
  // What is left when nothing comes any more.
  Bytes rest() { return std::exchange(waiting_, {}); }

 private:
  Bytes waiting_;
};

}  // namespace gw::cli
