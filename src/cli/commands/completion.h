#pragma once
// Completion scripts for shells, made from the commands. Commands and options are in the script; jobs, peers and grids
// are asked of the daemon (`godwit complete`).

#include <string>

#include "cli/command_model.h"

namespace gw::cli {

std::string bash_completion(const CommandModel& root);
std::string zsh_completion(const CommandModel& root);
std::string fish_completion(const CommandModel& root);

}  // namespace gw::cli
