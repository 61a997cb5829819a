#pragma once
// A loopback interface for this process alone.

#include <cstdint>

#include "base/result.h"

namespace gw::bench {

// From now on this process, and all that it starts, have a network of their own: nothing but a loopback interface. As root, or where users
// may make namespaces. REQUIRES: this process has one thread.
Status enter_private_network();

// Bytes that all processes of this network have sent so far, headers included.
Result<std::uint64_t> bytes_sent();

}  // namespace gw::bench
