#include "wire/grid_name.h"

#include <algorithm>

namespace gw::wire {

GridId open_grid(std::string_view name) { return {sha256(as_bytes(name))}; }

GridId private_grid(const PublicKey& grid_key) { return {sha256(grid_key)}; }

Status check_grid_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  const bool allowed = std::ranges::all_of(name, [&](char c) { return kAllowed.find(c) != std::string_view::npos; });
  if (name.empty() || name.size() > kLongest || !allowed)
    return fail(Kind::invalid, "'{}' is not a grid name: use 1 to {} letters, digits, dots, dashes and underscores", name, kLongest);
  return ok();
}

}  // namespace gw::wire
