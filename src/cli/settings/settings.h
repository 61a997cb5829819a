#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/settings/setting_keys.h"

namespace gw::cli {

// The sources of settings, in order of precedence.
struct SettingSources {
  std::map<Key, std::string> flags;                                        // --memory 64M
  std::vector<std::string> overrides;                                      // --config memory=64M; the last one of a key counts
  std::function<std::optional<std::string>(const std::string&)> variable;  // of the environment
  std::vector<std::filesystem::path> files;                                // the strongest first
};

// The settings files: ./godwit.toml, the user's, the machine's.
struct SettingFiles {
  std::filesystem::path project, user, system;
  static SettingFiles usual();
  std::vector<std::filesystem::path> by_strength() const { return {project, user, system}; }
};

// The value and origin of every setting. Values have been checked, so using one cannot fail.
class Settings {
 public:
  struct Value {
    std::string text;
    std::string origin;  // for people: "--memory", "GODWIT_MEMORY", "godwit.toml", "built in"
  };

  // A mistake in any source is an error, even if a source with precedence hides it.
  static Result<Settings> resolve(const SettingSources& sources);

  const Value& operator[](Key key) const { return values_[static_cast<std::size_t>(key)]; }

  std::uint32_t memory_pages() const;
  std::chrono::milliseconds time_limit() const;
  std::optional<std::chrono::milliseconds> checkpoint_every() const;
  std::filesystem::path socket() const;         // of the daemon
  Result<std::filesystem::path> state() const;  // Kind::invalid: there is no usual place for this user
  // Whether the value comes from a flag, variable or file, and not from the built-in default.
  bool is_chosen(Key key) const { return (*this)[key].origin != kBuiltIn; }

 private:
  static constexpr std::string_view kBuiltIn = "built in";

  Settings() = default;
  Value& at(Key key) { return values_[static_cast<std::size_t>(key)]; }
  Status read_files(const SettingSources& sources);
  Status read_variables(const SettingSources& sources);
  Status read_flags(const SettingSources& sources);

  std::array<Value, kKeyCount> values_;
};

// "memory=64M" as key and value, checked.
Result<std::pair<Key, std::string>> parse_setting(std::string_view assignment);

}  // namespace gw::cli
