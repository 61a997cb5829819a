#pragma once

#include <string>

namespace gw::isolate {

// Name and version of the engine this was built for. Usable without loading it.
std::string engine_version();

}  // namespace gw::isolate
