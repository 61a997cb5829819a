#pragma once
// Output bytes of a program as JSON.

#include <utility>

#include "base/bytes.h"
#include "cli/console/console.h"

namespace gw::cli {

// {"text": ...} if the bytes are UTF-8, else {"base64": ...}.
Json bytes_as_json(ByteView bytes);

// How many bytes at the front of `bytes` are complete UTF-8 characters.
std::size_t utf8_prefix(ByteView bytes);

std::string base64(ByteView bytes);

// Splits a stream of bytes only between characters: an incomplete character is kept until its rest arrives.
class Utf8Pieces {
 public:
  Bytes take(ByteView bytes);
  bool empty() const { return waiting_.empty(); }
  // The bytes kept at the end of the stream.
  Bytes rest() { return std::exchange(waiting_, {}); }

 private:
  Bytes waiting_;
};

}  // namespace gw::cli
