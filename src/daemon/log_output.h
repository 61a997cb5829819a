#pragma once
// Where the daemon's log goes.

#include <filesystem>

#include "base/result.h"

namespace gw::daemon {

// To `file`, rotated, if one is named; else to stderr. Every line begins with its time (os::timestamp), except in systemd's journal, which
// has times of its own: there it begins with its priority.
Status choose_log(const std::filesystem::path& file);

}  // namespace gw::daemon
