#pragma once
// The daemon as a unit of the user's systemd: started at login, or at boot where lingering is on, and started again when it fails.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace gw::cli {

inline constexpr std::string_view kUnitName = "godwit.service";

// ~/.config/systemd/user/godwit.service
std::filesystem::path unit_file();

// What the unit file says: `command` is 'godwit up --foreground' with its options, every word as it is.
std::string unit_text(const std::vector<std::string>& command);

// Whether systemd took it, or a sentence about what is left to do by hand: the unit file is written, or removed, in any case.
struct UnitChange {
  bool taken = false;
  std::string to_do;
};
Result<UnitChange> install_unit(const std::vector<std::string>& command);
// Kind::not_found: there is none.
Result<UnitChange> uninstall_unit();

}  // namespace gw::cli
