#pragma once
// A tracker without a peer.

#include <span>
#include <string>

#include "base/result.h"

namespace gw::daemon {

// `godwit-daemon tracker ADDRESS:PORT FILE`: serves until SIGTERM or SIGINT.
Status run_tracker(std::span<const std::string> arguments);

}  // namespace gw::daemon
