#pragma once

#include <string>

#include "cli/command_model.h"

namespace gw::cli {

// The manual page of one command in the man(7) macros.
std::string man_page(const CommandModel& command, const CommandModel& root, const std::string& version);

}  // namespace gw::cli
