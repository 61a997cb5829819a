#include "cli/daemon/systemd_unit.h"

#include <fmt/format.h>

#include <cstdlib>

#include "os/files/file.h"
#include "os/process/process.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

// Quoted as in systemd.syntax(7), so that no specifier, variable or quote in the word is expanded.
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
Description=Godwit daemon of this user
Documentation=man:godwit-up(1)
After=network.target

[Service]
Type=notify
ExecStart={}
Restart=on-failure
RestartSec=2
TimeoutStopSec=40
KillMode=mixed
# The daemon creates a control group for each worker, so that a worker that exceeds its memory ends alone.
Delegate=yes
OOMPolicy=continue
# These confine the daemon; workers confine themselves much further (docs/security.md).
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
  return fail(Kind::internal, "'{}' failed: {}", fmt::join(words, " "), why.empty() ? "no message" : why);
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
  if (failure) return fail(Kind::invalid, "cannot create the folder {}: {}", file.parent_path().string(), failure.message());
  GW_TRY_VOID(os::write_file_atomic(file, as_bytes(unit_text(command))));
  Status taken = systemctl({"daemon-reload"});
  if (taken) taken = systemctl({"enable", "--now", std::string(kUnitName)});
  if (taken) return UnitChange{.taken = true, .to_do = ""};
  return UnitChange{.to_do =
                        fmt::format("{}; run 'systemctl --user enable --now {}' where systemd runs for this user, or 'godwit up' elsewhere",
                                    taken.error().detail, kUnitName)};
}

Result<UnitChange> uninstall_unit() {
  const fs::path file = unit_file();
  if (!fs::exists(file)) return fail(Kind::not_found, "there is no unit {}: create one with 'godwit up --install'", file.string());
  const Status stopped = systemctl({"disable", "--now", std::string(kUnitName)});
  std::error_code failure;
  if (!fs::remove(file, failure)) return fail(Kind::invalid, "cannot remove {}: {}", file.string(), failure.message());
  if (stopped) (void)systemctl({"daemon-reload"});  // the unit is removed even if systemd does not reload
  if (stopped) return UnitChange{.taken = true, .to_do = ""};
  return UnitChange{.to_do = fmt::format("{}; stop a running daemon with 'godwit down'", stopped.error().detail)};
}

}  // namespace gw::cli
