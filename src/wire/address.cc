#include "wire/address.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "wire/overlay_messages.h"

namespace gw::wire {

bool is_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (text.size() > kMaxAddressBytes || colon == std::string_view::npos || colon == 0) return false;
  if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; })) return false;
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data() + colon + 1, end, port);
  return problem == std::errc() && rest == end && port != 0;
}

}  // namespace gw::wire
