#pragma once
// A file of the dashboard.

#include <cstdint>
#include <string_view>

namespace gw::gateway {

// Views into constants of the program.
struct WebPage {
  enum class Life : std::uint8_t { checked, lasting };  // lasting: another content has another path, so browsers keep it without asking
  std::string_view path;                                // "/assets/index-4fa2.js"
  std::string_view type;
  std::string_view etag;  // with its quotes
  Life life = Life::checked;
  std::string_view plain, gzip;  // the same content twice
};

}  // namespace gw::gateway
