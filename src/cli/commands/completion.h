#pragma once
// Completion scripts for shells, made from the commands. They call nothing while they complete: everything is in the script.

#include <string>

#include "cli/command_model.h"

namespace gw::cli {

std::string bash_completion(const CommandModel& root);
std::string zsh_completion(const CommandModel& root);
std::string fish_completion(const CommandModel& root);

}  // namespace gw::cli
