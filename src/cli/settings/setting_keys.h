#pragma once
// The settings that can be given as a flag, in the environment and in files. Flags, variables, help and documents follow this one table.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gw::cli {

enum class Key {
  memory,
  time_limit,
  checkpoint_every,
  mobile,
  compile_ahead,
  socket,
  state,
  listen,
  join,
  grid,
  machine_name,
  slots,
  keep_jobs,
  keep_output,
  fetch_private,
  output,
  color
};
inline constexpr std::size_t kKeyCount = 17;

struct SettingKey {
  Key key;
  std::string_view name;         // in files: kebab-case
  std::string_view flag;         // as the parser wants it
  std::string_view placeholder;  // of its value
  std::string_view built_in;
  std::string_view description;
  Status (*check)(std::string_view value);
};

std::span<const SettingKey> setting_keys();  // in the order of Key
const SettingKey& setting_key(Key key);
std::vector<std::string> setting_names();
std::string variable_name(const SettingKey& key);  // GODWIT_TIME_LIMIT

// The key of that name. Kind::invalid: there is none; the sentence names the most similar one.
Result<Key> find_setting(std::string_view name);

// A value that is a list: its parts, separated by commas; none for kNone.
std::vector<std::string> parts_of(std::string_view value);
inline constexpr std::string_view kNone = "none";

// The value that turns checkpoints off.
inline constexpr std::string_view kNever = "off";

// The value that stands for the default of this system.
inline constexpr std::string_view kAuto = "auto";

}  // namespace gw::cli
