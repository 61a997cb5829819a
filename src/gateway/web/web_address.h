#pragma once
// Where the dashboard may be served.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace gw::gateway {

inline constexpr std::uint16_t kWebPort = 7500;
inline constexpr std::uint16_t kWebPortsTried = 100;  // from kWebPort on, if no address is given

// Kind::invalid: `text` is neither empty nor ADDRESS:PORT with a numeric address of this machine's loopback.
Status check_web_address(const std::string& text);

}  // namespace gw::gateway
