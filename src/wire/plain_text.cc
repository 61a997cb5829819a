#include "wire/plain_text.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gw::wire {
namespace {

// The length of the UTF-8 character at the start of `bytes`; 0 if there is none.
std::size_t character_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (at(0) < 0x80) return 1;
  const std::size_t length = at(0) >= 0xf0 ? 4 : at(0) >= 0xe0 ? 3 : 2;
  if (at(0) < 0xc2 || at(0) > 0xf4 || length > bytes.size()) return 0;
  std::uint32_t code = at(0) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (at(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast[length] || code > 0x10ffff || surrogate ? 0 : length;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  return first < 0x20 || first == 0x7f || (first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

}  // namespace

void make_plain(std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) text[i] = ' ';
    const bool c1 = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c1) text[i] = text[i + 1] = ' ';
  }
}

void make_plain_lines(std::string& text) {
  constexpr std::string_view kIndent = "\n  ";
  std::string plain;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    make_plain(line);
    if (start > 0) plain += kIndent.substr(0, line.starts_with("  ") ? 1 : kIndent.size());
    plain += line;
    start = end + 1;
  }
  text = std::move(plain);
}

std::string plain_text(std::string_view bytes, std::size_t limit) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = character_length(bytes);
    const std::string_view character = bytes.substr(0, length == 0 ? 1 : length);
    const bool plain = length > 0 && !is_control(character);
    if (text.size() + (plain ? length : 1) > limit) break;
    text += plain ? character : "?";
    bytes.remove_prefix(character.size());
  }
  return text;
}

}  // namespace gw::wire
