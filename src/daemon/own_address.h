#pragma once
// The address under which other machines reach this one.

#include <string>

namespace gw::daemon {

// For a daemon that listens on all addresses: the address of the default route, else the first one that is not loopback, else loopback. An
// IPv6 address, in brackets, only if there is no IPv4 address.
std::string own_address();

// Whether [::] can be listened on.
bool has_ipv6();

}  // namespace gw::daemon
