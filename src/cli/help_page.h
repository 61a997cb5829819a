#pragma once

#include <string>

#include "cli/command_model.h"
#include "cli/console/terminal.h"

namespace gw::cli {

// The text of --help. `common` are the options that every command has.
std::string help_page(const CommandModel& command, const std::vector<OptionModel>& common, const Terminal& terminal);

}  // namespace gw::cli
