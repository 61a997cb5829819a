#pragma once
// Bytes that choose what happens next, as a fuzzer gives them to a state machine.

#include <algorithm>

#include "base/bytes.h"

namespace gw::fuzz {

// Beyond its end: zeros.
class Tape {
 public:
  explicit Tape(ByteView bytes) : bytes_(bytes) {}
  bool at_end() const { return bytes_.empty(); }
  std::uint8_t next() {
    if (bytes_.empty()) return 0;
    const std::uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>((next() * 256u + next()) % limit); }
  ByteView take(std::size_t count) {
    const ByteView taken = bytes_.first(std::min(count, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

 private:
  ByteView bytes_;
};

}  // namespace gw::fuzz
