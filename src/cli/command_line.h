#pragma once

#include <string>
#include <vector>

namespace gw::cli {

// Runs `godwit` with these arguments: finds the command, resolves the settings, runs the action, reports errors.
// Returns the exit code of the process.
int command_line(const std::vector<std::string>& words);

}  // namespace gw::cli
