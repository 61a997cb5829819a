#pragma once
// godwit.toml and config.toml: settings on disk.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/settings/setting_keys.h"

namespace gw::cli {

// The settings in a file, checked. A missing file has none; anything wrong in it is Kind::invalid and names the file and the line.
Result<std::vector<std::pair<Key, std::string>>> read_settings_file(const std::filesystem::path& file);

// Puts one setting into a file, which is created with its folder if missing. Everything else in it, comments too, stays as it is.
// REQUIRES: the value has been checked.
Status write_setting(const std::filesystem::path& file, Key key, std::string_view value);

}  // namespace gw::cli
