#include "cli/console/output_text.h"

namespace gw::cli {
namespace {

constexpr std::size_t kLongestCharacter = 4;

struct Utf8Form {
  std::uint8_t mask, lead;
  std::size_t length;
  std::uint32_t least;  // the smallest character that needs this length
};

constexpr Utf8Form kForms[] = {{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};

// Length of the character at the front; 0 if there is none, or not all of it.
std::size_t character_length(ByteView bytes) {
  for (const Utf8Form& form : kForms) {
    if ((bytes[0] & form.mask) != form.lead) continue;
    if (bytes.size() < form.length) return 0;
    std::uint32_t character = bytes[0] & static_cast<std::uint8_t>(~form.mask);
    for (std::size_t i = 1; i < form.length; ++i) {
      if ((bytes[i] & 0xc0) != 0x80) return 0;
      character = character << 6 | (bytes[i] & 0x3f);
    }
    const bool surrogate = character >= 0xd800 && character <= 0xdfff;
    return character < form.least || surrogate || character > 0x10ffff ? 0 : form.length;
  }
  return 0;
}

}  // namespace

std::size_t utf8_prefix(ByteView bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t length = character_length(bytes.subspan(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::string base64(ByteView bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < count ? bytes[i + j] : 0);
    for (std::size_t j = 0; j < 4; ++j) out += j <= count ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

Json bytes_as_json(ByteView bytes) {
  if (utf8_prefix(bytes) == bytes.size()) return {{"text", as_text(bytes)}};
  return {{"base64", base64(bytes)}};
}

Bytes Utf8Pieces::take(ByteView bytes) {
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  std::size_t whole = utf8_prefix(waiting_);
  if (waiting_.size() - whole >= kLongestCharacter) whole = waiting_.size();  // no text
  Bytes taken(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(whole));
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(whole));
  return taken;
}

}  // namespace gw::cli
