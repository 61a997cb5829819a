#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gw::cli {

// The word of `known` that is most similar to `word`, for "did you mean"; nothing if none is similar enough.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace gw::cli
