#include "wire/base32.h"

namespace gw::wire {
namespace {

constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz234567";
constexpr unsigned kBits = 5;
constexpr unsigned kByteBits = 8;
constexpr unsigned kMask = (1u << kBits) - 1;

}  // namespace

std::string base32(ByteView bytes) {
  std::string text;
  unsigned held = 0, bits = 0;
  for (const std::uint8_t byte : bytes) {
    held = held << kByteBits | byte;
    for (bits += kByteBits; bits >= kBits; bits -= kBits) text.push_back(kDigits[held >> (bits - kBits) & kMask]);
  }
  if (bits > 0) text.push_back(kDigits[held << (kBits - bits) & kMask]);
  return text;
}

Result<Bytes> parse_base32(std::string_view text) {
  Bytes bytes;
  unsigned held = 0, bits = 0;
  for (const char letter : text) {
    const char small = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    const std::size_t digit = kDigits.find(small);
    if (digit == std::string_view::npos)
      return fail(Kind::invalid, "there is a character that is neither a letter nor a digit from 2 to 7");
    held = held << kBits | static_cast<unsigned>(digit);
    bits += kBits;
    if (bits < kByteBits) continue;
    bits -= kByteBits;
    bytes.push_back(static_cast<std::uint8_t>(held >> bits));
  }
  // The remaining bits must be fewer than a digit and zero, so that every byte string has one spelling.
  if (bits >= kBits || (held & ((1u << bits) - 1)) != 0) return fail(Kind::invalid, "the end is missing");
  return bytes;
}

}  // namespace gw::wire
