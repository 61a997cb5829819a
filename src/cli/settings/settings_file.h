#pragma once
// godwit.toml and config.toml: settings on disk.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/settings/setting_keys.h"

namespace gw::cli {

// The checked settings of a file; none if it is missing. Kind::invalid: what is wrong, with file and line.
Result<std::vector<std::pair<Key, std::string>>> read_settings_file(const std::filesystem::path& file);

// Writes one setting to a file, which is created with its folder if missing. All other lines are kept.
// REQUIRES: the value has been checked.
Status write_setting(const std::filesystem::path& file, Key key, std::string_view value);

}  // namespace gw::cli
