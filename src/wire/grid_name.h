#pragma once
// Grids as people call them.

#include <string_view>

#include "base/signature.h"
#include "wire/names.h"

namespace gw::wire {

// Of peers that were told of no other.
inline constexpr std::string_view kDefaultGrid = "open";

// The id of a grid that is open to whoever knows its name.
GridId open_grid(std::string_view name);

// The id of a grid that is open to those its key lets in.
GridId private_grid(const PublicKey& grid_key);

// Kind::invalid unless it has 1 to 64 letters, digits, dots, dashes and underscores.
Status check_grid_name(std::string_view name);

}  // namespace gw::wire
