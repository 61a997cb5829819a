#pragma once

#include <string>
#include <vector>

namespace gw::cli {

// `godwit` with these words behind its name: finds the command, resolves the settings, carries it out, reports what went wrong.
// Returns the exit code of the process.
int command_line(const std::vector<std::string>& words);

}  // namespace gw::cli
