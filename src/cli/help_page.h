#pragma once

#include <string>

#include "cli/command_model.h"
#include "cli/console/terminal.h"

namespace gw::cli {

// What --help shows. `common` are the options that every command understands.
std::string help_page(const CommandModel& command, const std::vector<OptionModel>& common, const Terminal& terminal);

}  // namespace gw::cli
