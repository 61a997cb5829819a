#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gw::cli {

// The one of `known` that `word` was probably meant to be; nothing if none is near enough. For "did you mean".
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace gw::cli
