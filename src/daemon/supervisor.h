#pragma once
// Whoever started the daemon and wants to know how it is: systemd, or a process that gave a descriptor.

#include <string>

#include "os/unique_fd.h"

namespace gw::daemon {

// The daemon answers from now on: tells systemd, if it asked, and writes a line to `ready`, if there is one, which is closed then.
void report_ready(const std::string& status, os::UniqueFd ready);
// It has begun to stop.
void report_stopping();

// Whether stderr is systemd's journal.
bool stderr_is_journal();

}  // namespace gw::daemon
