#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gw::cli {

// Breaks a text into lines of at most `width` characters between its words; a word that is longer gets a line of its own.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

// Names on the left, descriptions on the right, both indented; where the terminal is narrow, descriptions come below their names.
std::string definition_list(const std::vector<std::pair<std::string, std::string>>& entries, std::size_t width);

}  // namespace gw::cli
