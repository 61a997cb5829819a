#pragma once
// Where the daemon's log goes.

#include <filesystem>

#include "base/result.h"

namespace gw::daemon {

// To `file`, rotated, if one is named; else to stderr, which may be systemd's journal: then every line begins with its priority.
Status choose_log(const std::filesystem::path& file);

}  // namespace gw::daemon
