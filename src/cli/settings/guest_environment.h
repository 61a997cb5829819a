#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gw::cli {

// The words of --env as NAME=value: NAME alone takes the value from our own environment. Nothing else of it reaches the program.
Result<std::vector<std::string>> guest_environment(const std::vector<std::string>& words);

}  // namespace gw::cli
