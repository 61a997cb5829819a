#pragma once
// Redirection of log lines away from stderr.

#include <functional>
#include <string_view>

#include "base/log.h"

namespace gw::log {

// Takes lines with their end, one at a time.
using Sink = std::function<void(Level level, std::string_view line)>;
// Before other threads write. An empty one: stderr again.
void set_sink(Sink sink);

}  // namespace gw::log
