#pragma once
// Where other machines reach this one.

#include <string>

namespace gw::daemon {

// The first address of this machine that is not its loopback, for a daemon that listens on all of them; the loopback if there is no other.
std::string own_address();

}  // namespace gw::daemon
