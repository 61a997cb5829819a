#pragma once
// Tells systemd, or the process that started the daemon, about its state.

#include <string>

#include "os/files/unique_fd.h"

namespace gw::daemon {

// The daemon is ready: notifies systemd if it runs under it, writes a line to `ready` if that is open, and closes it.
void report_ready(const std::string& status, os::UniqueFd ready);
// The daemon has begun to stop.
void report_stopping();

// Whether stderr is systemd's journal.
bool stderr_is_journal();

}  // namespace gw::daemon
