#pragma once
// Where a peer is, as it travels: "host:port".

#include <cstddef>
#include <string_view>

namespace gw::wire {

// Whether a dial could make sense of it: something printable, a colon, a port; at most 256 bytes.
bool is_address(std::string_view text);

}  // namespace gw::wire
