#include "cli/settings/settings.h"

#include <cstdlib>
#include <ranges>

#include "cli/console/quantity.h"
#include "cli/settings/settings_file.h"
#include "os/files/user_folders.h"
#include "wire/image/image.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

fs::path user_folder() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config != '\0') return fs::path(config) / "godwit";
  const char* const home = std::getenv("HOME");
  return fs::path(home == nullptr ? "/" : home) / ".config" / "godwit";
}

// The folder for sockets of this user, which is emptied when the machine restarts; the state folder where there is none.
fs::path runtime_folder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != '\0') return fs::path(runtime) / "godwit";
  const auto state = os::state_dir();
  return state ? *state : fs::path("/godwit");  // a user without any folder cannot start a daemon either
}

Status check(const SettingKey& key, const std::string& value, std::string_view where) {
  Status valid = key.check(value);
  if (!valid) return fail(Kind::invalid, "{}: {}", where, valid.error().detail);
  return ok();
}

}  // namespace

SettingFiles SettingFiles::usual() {
  return {.project = "godwit.toml", .user = user_folder() / "config.toml", .system = "/etc/godwit/config.toml"};
}

Result<std::pair<Key, std::string>> parse_setting(std::string_view assignment) {
  const std::size_t sign = assignment.find('=');
  if (sign == std::string_view::npos)
    return fail(Kind::invalid, "'{}' is not a setting: write it as key=value, for example memory=512M", assignment);
  const std::string_view name = assignment.substr(0, sign);
  GW_TRY(Key key, find_setting(name));
  std::string value(assignment.substr(sign + 1));
  GW_TRY_VOID(check(setting_key(key), value, name));
  return std::pair(key, std::move(value));
}

Result<Settings> Settings::resolve(const SettingSources& sources) {
  Settings settings;
  for (const SettingKey& key : setting_keys()) settings.at(key.key) = {std::string(key.built_in), std::string(kBuiltIn)};
  GW_TRY_VOID(settings.read_files(sources));
  GW_TRY_VOID(settings.read_variables(sources));
  GW_TRY_VOID(settings.read_flags(sources));
  return settings;
}

Status Settings::read_files(const SettingSources& sources) {
  for (const fs::path& file : sources.files | std::views::reverse) {
    GW_TRY(auto entries, read_settings_file(file));
    for (auto& [key, text] : entries) at(key) = {std::move(text), file.string()};
  }
  return ok();
}

Status Settings::read_variables(const SettingSources& sources) {
  for (const SettingKey& key : setting_keys()) {
    const std::string variable = variable_name(key);
    const auto text = sources.variable(variable);
    if (!text || text->empty()) continue;  // an empty variable is an unset one
    GW_TRY_VOID(check(key, *text, variable));
    at(key.key) = {*text, variable};
  }
  return ok();
}

Status Settings::read_flags(const SettingSources& sources) {
  for (const std::string& assignment : sources.overrides) {
    auto setting = parse_setting(assignment);
    if (!setting) return fail(Kind::invalid, "--config: {}", setting.error().detail);
    at(setting->first) = {std::move(setting->second), "--config"};
  }
  for (const auto& [key, text] : sources.flags) {
    const std::string_view names = setting_key(key).flag;
    const std::string flag(names.substr(names.find("--")));
    GW_TRY_VOID(check(setting_key(key), text, flag));
    at(key) = {text, flag};
  }
  return ok();
}

std::uint32_t Settings::memory_pages() const {
  return static_cast<std::uint32_t>(parse_bytes((*this)[Key::memory].text).value() / wire::kPageBytes);
}

std::chrono::milliseconds Settings::time_limit() const { return parse_duration((*this)[Key::time_limit].text).value(); }

std::optional<std::chrono::milliseconds> Settings::checkpoint_every() const {
  const std::string& text = (*this)[Key::checkpoint_every].text;
  if (text == kNever) return std::nullopt;
  return parse_duration(text).value();
}

// A daemon with its own state folder also has its own socket.
fs::path Settings::socket() const {
  const std::string& text = (*this)[Key::socket].text;
  if (text != kAuto) return text;
  const std::string& state = (*this)[Key::state].text;
  return (state == kAuto ? runtime_folder() : fs::path(state)) / "socket";
}

Result<fs::path> Settings::state() const {
  const std::string& text = (*this)[Key::state].text;
  if (text != kAuto) return fs::path(text);
  return os::state_dir();
}

}  // namespace gw::cli
