#pragma once
// Folders of this user.

#include <filesystem>

#include "base/result.h"

namespace gw::os {

// $XDG_STATE_HOME/godwit or ~/.local/state/godwit; not created.
Result<std::filesystem::path> state_dir();
// $XDG_DATA_HOME/godwit or ~/.local/share/godwit; not created.
Result<std::filesystem::path> data_dir();

// A folder that this user alone may enter, and those above it, created if missing. One that is there stays as it is.
Status make_private_folder(const std::filesystem::path& path);

}  // namespace gw::os
