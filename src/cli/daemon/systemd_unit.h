#pragma once
// The systemd user unit of the daemon: started at login (with lingering at boot) and restarted when it fails.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace gw::cli {

inline constexpr std::string_view kUnitName = "godwit.service";

// ~/.config/systemd/user/godwit.service
std::filesystem::path unit_file();

// The text of the unit file. `command` is 'godwit up --foreground' with its options.
std::string unit_text(const std::vector<std::string>& command);

// Whether systemd accepted the change, or what the user must do by hand. The unit file is written or removed in any case.
struct UnitChange {
  bool taken = false;
  std::string to_do;
};
Result<UnitChange> install_unit(const std::vector<std::string>& command);
// Kind::not_found: there is none.
Result<UnitChange> uninstall_unit();

}  // namespace gw::cli
