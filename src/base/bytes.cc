#include "base/bytes.h"

#include <limits>

namespace gw {

std::string hex(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

void ByteWriter::leb_u64(std::uint64_t value) {
  while (value >= 0x80) {
    u8(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  u8(static_cast<std::uint8_t>(value));
}

void ByteWriter::string(std::string_view value) {
  GW_ASSERT(value.size() <= std::numeric_limits<std::uint32_t>::max());
  u32(static_cast<std::uint32_t>(value.size()));
  bytes(as_bytes(value));
}

void ByteWriter::little_endian(std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) u8(static_cast<std::uint8_t>(value >> (8 * i)));
}

Result<std::uint64_t> ByteReader::little_endian(std::size_t count) {
  GW_TRY(ByteView raw, bytes(count));
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{raw[i]} << (8 * i);
  return value;
}

Result<std::uint8_t> ByteReader::u8() {
  GW_TRY(auto value, little_endian(1));
  return static_cast<std::uint8_t>(value);
}

Result<std::uint16_t> ByteReader::u16() {
  GW_TRY(auto value, little_endian(2));
  return static_cast<std::uint16_t>(value);
}

Result<std::uint32_t> ByteReader::u32() {
  GW_TRY(auto value, little_endian(4));
  return static_cast<std::uint32_t>(value);
}

Result<std::uint64_t> ByteReader::u64() { return little_endian(8); }

// Wasm's rule: at most ceil(bits / 7) bytes, and the unused bits of the last one are zero.
Result<std::uint64_t> ByteReader::leb(int bits) {
  std::uint64_t value = 0;
  std::size_t next = position_;
  for (int shift = 0; shift < bits; shift += 7) {
    if (next == bytes_.size()) return fail(Kind::corrupt, "a LEB128 number at offset {} is cut off", position_);
    const std::uint64_t digit = bytes_[next] & 0x7f;
    const bool more = (bytes_[next++] & 0x80) != 0;
    const int room = bits - shift;
    if (room < 7 && (digit >> room) != 0) break;
    value |= digit << shift;
    if (!more) {
      position_ = next;
      return value;
    }
  }
  return fail(Kind::corrupt, "a LEB128 number at offset {} does not fit {} bits", position_, bits);
}

Result<std::uint32_t> ByteReader::leb_u32() {
  GW_TRY(auto value, leb(32));
  return static_cast<std::uint32_t>(value);
}

Result<std::uint64_t> ByteReader::leb_u64() { return leb(64); }

Result<ByteView> ByteReader::bytes(std::size_t count) {
  if (count > remaining()) return fail(Kind::corrupt, "{} bytes are needed at offset {}, {} are left", count, position_, remaining());
  ByteView view = bytes_.subspan(position_, count);
  position_ += count;
  return view;
}

Result<std::string> ByteReader::string() {
  const std::size_t start = position_;
  GW_TRY(auto length, u32());
  auto raw = bytes(length);
  if (!raw) {
    position_ = start;
    return std::move(raw).error();
  }
  return std::string(as_text(*raw));
}

}  // namespace gw
