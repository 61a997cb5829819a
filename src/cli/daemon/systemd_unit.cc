#include "cli/daemon/systemd_unit.h"

#include <fmt/format.h>

#include <cstdlib>

#include "os/file.h"
#include "os/process.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

// As systemd.syntax(7) wants it: no specifier, variable or quote of a word means anything.
std::string quoted_word(const std::string& word) {
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '%' || c == '$') text += c;
    text += c;
  }
  return text + "\"";
}

constexpr std::string_view kText = R"([Unit]
Description=Godwit: a peer of this user
Documentation=man:godwit-up(1)
After=network.target

[Service]
Type=notify
ExecStart={}
Restart=on-failure
RestartSec=2
TimeoutStopSec=40
KillMode=mixed
# The daemon makes a control group for each worker; a worker that takes too much memory ends alone.
Delegate=yes
OOMPolicy=continue
# Workers hold themselves much tighter than this (docs/security.md); these hold the daemon.
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
UMask=0077

[Install]
WantedBy=default.target
)";

Status systemctl(std::vector<std::string> words) {
  words.insert(words.begin(), {"systemctl", "--user"});
  GW_TRY(const os::ProcessResult done, os::run_process({.argv = words, .stdin_bytes = {}, .timeout = std::chrono::minutes(1)}));
  if (done.succeeded()) return ok();
  std::string why = done.err.substr(0, done.err.find('\n'));
  return fail(Kind::internal, "'{}' failed: {}", fmt::join(words, " "), why.empty() ? "it says nothing" : why);
}

}  // namespace

fs::path unit_file() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  const char* const home = std::getenv("HOME");
  const fs::path folder = config != nullptr && *config != '\0' ? fs::path(config) : fs::path(home == nullptr ? "/" : home) / ".config";
  return folder / "systemd" / "user" / kUnitName;
}

std::string unit_text(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(quoted_word(word));
  return fmt::format(kText, fmt::join(words, " "));
}

Result<UnitChange> install_unit(const std::vector<std::string>& command) {
  const fs::path file = unit_file();
  std::error_code failure;
  fs::create_directories(file.parent_path(), failure);
  if (failure) return fail(Kind::invalid, "cannot make the folder {}: {}", file.parent_path().string(), failure.message());
  GW_TRY_VOID(os::write_file_atomic(file, as_bytes(unit_text(command))));
  Status taken = systemctl({"daemon-reload"});
  if (taken) taken = systemctl({"enable", "--now", std::string(kUnitName)});
  if (taken) return UnitChange{.taken = true, .to_do = ""};
  return UnitChange{.to_do = fmt::format("{}; where systemd runs for this user: systemctl --user enable --now {}; elsewhere: godwit up",
                                         taken.error().detail, kUnitName)};
}

Result<UnitChange> uninstall_unit() {
  const fs::path file = unit_file();
  if (!fs::exists(file)) return fail(Kind::not_found, "there is no unit {}: 'godwit up --install' makes one", file.string());
  const Status stopped = systemctl({"disable", "--now", std::string(kUnitName)});
  std::error_code failure;
  if (!fs::remove(file, failure)) return fail(Kind::invalid, "cannot remove {}: {}", file.string(), failure.message());
  if (stopped) (void)systemctl({"daemon-reload"});  // the unit is gone whether systemd has heard of it or not
  if (stopped) return UnitChange{.taken = true, .to_do = ""};
  return UnitChange{.to_do = fmt::format("{}; if the daemon runs: godwit down", stopped.error().detail)};
}

}  // namespace gw::cli
