#pragma once
// Patterns as words of --input: 'in/*.png' stands for all files and folders that match.

#include <string>
#include <vector>

#include "base/result.h"

namespace gw::cli {

struct InputPath {
  std::string host, guest;
};

// "HOST[:GUEST]"; the last colon counts.
InputPath split_paths(const std::string& text);

// The files and folders that `host` stands for, sorted, and their paths in the program. A path that exists, or without *, ? and [, stands
// for itself. With a guest path of its own, matches lie below it under their last names. Kind::not_found: nothing matches. Kind::invalid:
// too many match, or two would have the same path in the program.
Result<std::vector<InputPath>> match_input(const std::string& host, const std::string& guest);

// Replaces the patterns among the words "HOST[:GUEST]", where the last colon counts, by words for what matches.
Result<std::vector<std::string>> expand_input_patterns(const std::vector<std::string>& inputs);

}  // namespace gw::cli
