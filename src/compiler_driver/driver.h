#pragma once
// Compiles and links guests as the compiler of a machine would.

#include <string>

#include "compiler_driver/arguments.h"

namespace gw::compiler_driver {

// Does what the arguments ask for. Warnings of the tools go to standard error. In mode `forward` it does not return unless that fails.
Status run(const Arguments& arguments, Language driver);

}  // namespace gw::compiler_driver
