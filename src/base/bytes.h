#pragma once
// Byte strings, and the bounded reader and writer every format of ours is built on. All integers are little-endian.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gw {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

inline ByteView as_bytes(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
inline std::string_view as_text(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Lower-case hexadecimal, two digits per byte.
std::string hex(ByteView bytes);

// Appends to a growing byte string.
class ByteWriter {
 public:
  void u8(std::uint8_t value) { bytes_.push_back(value); }
  void u16(std::uint16_t value) { little_endian(value, 2); }
  void u32(std::uint32_t value) { little_endian(value, 4); }
  void u64(std::uint64_t value) { little_endian(value, 8); }
  void leb_u32(std::uint32_t value) { leb_u64(value); }
  void leb_u64(std::uint64_t value);
  void bytes(ByteView value) { bytes_.insert(bytes_.end(), value.begin(), value.end()); }
  // A u32 length, then the characters. REQUIRES: shorter than 4 GiB.
  void string(std::string_view value);

  std::size_t size() const { return bytes_.size(); }
  ByteView view() const { return bytes_; }
  Bytes take() { return std::exchange(bytes_, {}); }

 private:
  void little_endian(std::uint64_t value, int count);

  Bytes bytes_;
};

// Reads from a byte string it does not own, which must outlive it and every view it returns. Reading past the end, or a number that
// does not fit, fails with Kind::corrupt and leaves the position where it was.
class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) : bytes_(bytes) {}

  Result<std::uint8_t> u8();
  Result<std::uint16_t> u16();
  Result<std::uint32_t> u32();
  Result<std::uint64_t> u64();
  Result<std::uint32_t> leb_u32();
  Result<std::uint64_t> leb_u64();
  Result<ByteView> bytes(std::size_t count);
  // Counterpart of ByteWriter::string.
  Result<std::string> string();

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  bool at_end() const { return remaining() == 0; }

 private:
  Result<std::uint64_t> little_endian(std::size_t count);
  Result<std::uint64_t> leb(int bits);

  ByteView bytes_;
  std::size_t position_ = 0;
};

}  // namespace gw
