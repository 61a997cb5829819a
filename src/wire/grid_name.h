#pragma once
// Names and ids of grids.

#include <string_view>

#include "base/signature.h"
#include "wire/names.h"

namespace gw::wire {

// The grid of peers that are configured with no other.
inline constexpr std::string_view kDefaultGrid = "open";

// The id of an open grid, which every peer that knows its name may join.
GridId open_grid(std::string_view name);

// The id of a private grid, whose key signs the memberships.
GridId private_grid(const PublicKey& grid_key);

// Kind::invalid unless it has 1 to 64 letters, digits, dots, dashes and underscores.
Status check_grid_name(std::string_view name);

}  // namespace gw::wire
