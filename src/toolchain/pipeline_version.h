#pragma once

#include <string_view>

namespace gw::toolchain {

// Hash over our own sources that decide what a build gives, and over libbinaryen. Written by cmake/pipeline_version.cmake.
std::string_view pipeline_version();

}  // namespace gw::toolchain
