#pragma once
// Where other machines reach this one.

#include <string>

namespace gw::daemon {

// For a daemon that listens on all addresses of this machine: the one it has towards the rest of the world, else the first that is not its
// loopback, else the loopback. One of IPv6, in brackets, only where there is none of IPv4.
std::string own_address();

// Whether [::] can be listened on.
bool has_ipv6();

}  // namespace gw::daemon
