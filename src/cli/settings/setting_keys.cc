#include "cli/settings/setting_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/console/quantity.h"
#include "cli/nearest.h"
#include "cli/value_kinds.h"
#include "wire/grid_name.h"
#include "wire/image/image.h"
#include "wire/invitation.h"
#include "wire/machine_name.h"

namespace gw::cli {
namespace {

Status check_choice(std::string_view value, std::string_view placeholder) {
  const std::vector<std::string> words = choices_of(placeholder);
  if (std::ranges::find(words, value) != words.end()) return ok();
  return fail(Kind::invalid, "'{}' is not one of {}", value, fmt::join(words, ", "));
}

Status check_memory(std::string_view value) {
  GW_TRY(auto bytes, parse_bytes(value));
  const std::uint64_t pages = bytes / wire::kPageBytes;
  if (pages == 0 || pages > wire::kMaxMemoryPages) return fail(Kind::invalid, "'{}' is not between 64KiB and 4GiB", value);
  return ok();
}

Status check_time(std::string_view value) {
  GW_TRY(auto time, parse_duration(value));
  if (time.count() == 0) return fail(Kind::invalid, "'{}' is too short: the program could not even start", value);
  return ok();
}

Status check_interval(std::string_view value) {
  if (value == kNever) return ok();
  GW_TRY(auto time, parse_duration(value));
  if (time < std::chrono::milliseconds(10)) return fail(Kind::invalid, "'{}' is too often: the shortest interval is 10ms", value);
  return ok();
}

Status check_socket(std::string_view value) {
  constexpr std::size_t kLongest = 107;  // what the system takes
  if (value.empty() || value.size() > kLongest) return fail(Kind::invalid, "'{}' is not a path of 1 to {} characters", value, kLongest);
  return ok();
}

Status check_folder(std::string_view value) {
  if (value.empty()) return fail(Kind::invalid, "the name of the folder is empty: give one, or '{}' for the default", kAuto);
  return ok();
}

// The form only: the daemon finds out whether it can listen there.
Status check_listen(std::string_view value) {
  if (value == kAuto) return ok();
  for (const std::string& part : parts_of(value))
    if (part.find(':') == std::string::npos) return fail(Kind::invalid, "'{}' is not an ADDRESS:PORT such as 0.0.0.0:7400", part);
  return ok();
}

Status check_join(std::string_view value) {
  if (value == kNone) return ok();
  for (const std::string& part : parts_of(value)) {
    if (wire::looks_like_invitation(part)) {
      GW_TRY_VOID(wire::parse_invitation(part));
    } else if (part.find(':') == std::string::npos) {
      return fail(Kind::invalid,
                  "'{}' is not a HOST:PORT such as 10.0.0.5:7400, an invitation (godwit:...) or a tracker (http://HOST:PORT)", part);
    }
  }
  return ok();
}

Status check_grids(std::string_view value) {
  for (const std::string& part : parts_of(value)) GW_TRY_VOID(wire::check_grid_name(part));
  return ok();
}

Status check_machine_name(std::string_view value) {
  if (!value.empty() && wire::is_machine_name(value)) return ok();
  return fail(Kind::invalid, "'{}' is not a name for a machine: give 1 to {} letters, digits, dots and dashes, or '{}' for the host name",
              value, wire::kMaxMachineNameBytes, kAuto);
}

Status check_slots(std::string_view value) {
  constexpr std::uint32_t kMost = 4096;
  if (value == kAuto) return ok();
  std::uint32_t slots = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), slots);
  if (error != std::errc() || end != value.data() + value.size() || slots == 0 || slots > kMost)
    return fail(Kind::invalid, "'{}' is not a number of slots: give 1 to {}, or '{}' for one per core", value, kMost, kAuto);
  return ok();
}

Status check_keep_jobs(std::string_view value) {
  GW_TRY(auto time, parse_duration(value));
  if (time < std::chrono::minutes(1) || time > std::chrono::hours(24 * 36500))
    return fail(Kind::invalid, "'{}' is not between 1m and 36500d", value);
  return ok();
}

Status check_keep_output(std::string_view value) {
  GW_TRY(auto bytes, parse_bytes(value));
  if (bytes < (1u << 20)) return fail(Kind::invalid, "'{}' is less than 1MiB", value);
  return ok();
}

constexpr std::array<SettingKey, kKeyCount> kKeys{{
    {Key::memory, "memory", "--memory", "SIZE", "1GiB", "Maximum memory of the program", check_memory},
    {Key::time_limit, "time-limit", "--time-limit", "TIME", "24h", "Maximum CPU time of the program", check_time},
    {Key::checkpoint_every, "checkpoint-every", "--checkpoint-every", "TIME", kNever,
     "Save the state of the program this often, so that it survives a crash", check_interval},
    {Key::mobile, "mobile", "--mobile", "LEVEL", "fine",
     "Where the program can be suspended: off, coarse (in blocking calls) or fine (anywhere)",
     [](std::string_view value) { return check_choice(value, "LEVEL"); }},
    {Key::compile_ahead, "compile-ahead", "--compile-ahead", "SWITCH", "on",
     "Compile the whole program during its first run, so that the next run starts at full speed: on or off",
     [](std::string_view value) { return check_choice(value, "SWITCH"); }},
    {Key::socket, "socket", "--socket", "FILE", kAuto, "Socket of the daemon; auto: in the user's runtime folder", check_socket},
    {Key::state, "state", "--state", "FOLDER", kAuto, "Folder with the daemon's key, jobs, data and log; auto: in the user's state folder",
     check_folder},
    {Key::listen, "listen", "--listen", "ADDRESS:PORT", kAuto,
     "Address to listen at for other peers; auto: all addresses, port 7400 or the next free one", check_listen},
    {Key::join, "join", "--join", "WHERE", kNone, "Peer (HOST:PORT), invitation (godwit:...) or tracker (http://HOST:PORT) to join through",
     check_join},
    {Key::grid, "grid", "--grid", "NAME", kAuto, "Open grid to join; auto: the grids of the last run, or 'open'", check_grids},
    {Key::machine_name, "machine-name", "--machine-name", "NAME", kAuto, "Name of this machine that other peers see; auto: its host name",
     check_machine_name},
    {Key::slots, "slots", "--slots", "N", kAuto, "Number of slots to lend; auto: as set by 'godwit share', or one per core", check_slots},
    {Key::keep_jobs, "keep-jobs", "--keep-jobs", "TIME", "30d", "How long jobs that have ended are kept, with their output",
     check_keep_jobs},
    {Key::keep_output, "keep-output", "--keep-output", "SIZE", "10GiB",
     "How much output of jobs that have ended is kept; the oldest jobs are forgotten first", check_keep_output},
    {Key::fetch_private, "fetch-private", "--fetch-private", "SWITCH", "off",
     "Let jobs fetch URLs from private, loopback and link-local addresses: on or off",
     [](std::string_view value) { return check_choice(value, "SWITCH"); }},
    {Key::output, "output", "-o,--format", "FORMAT", "table", "Output format: table, json or quiet",
     [](std::string_view value) { return check_choice(value, "FORMAT"); }},
    {Key::color, "color", "--color", "WHEN", "auto", "When to use colours: auto (on a terminal, unless NO_COLOR is set), always or never",
     [](std::string_view value) { return check_choice(value, "WHEN"); }},
}};

}  // namespace

std::span<const SettingKey> setting_keys() { return kKeys; }

const SettingKey& setting_key(Key key) {
  const SettingKey& found = kKeys[static_cast<std::size_t>(key)];
  GW_ASSERT(found.key == key);
  return found;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const SettingKey& key : kKeys) names.emplace_back(key.name);
  return names;
}

std::vector<std::string> parts_of(std::string_view value) {
  std::vector<std::string> parts;
  if (value.empty() || value == kNone) return parts;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::size_t comma = value.find(',', at);
    parts.emplace_back(value.substr(at, comma - at));
    at = comma == std::string_view::npos ? comma : comma + 1;
  }
  return parts;
}

std::string variable_name(const SettingKey& key) {
  std::string name = "GODWIT_";
  for (const char c : key.name) name.push_back(c == '-' ? '_' : static_cast<char>(c - 'a' + 'A'));
  return name;
}

Result<Key> find_setting(std::string_view name) {
  for (const SettingKey& key : kKeys)
    if (key.name == name) return key.key;
  if (const auto meant = nearest(name, setting_names()))
    return fail(Kind::invalid, "there is no setting '{}': did you mean '{}'?", name, *meant);
  return fail(Kind::invalid, "there is no setting '{}': choose one of {}", name, fmt::join(setting_names(), ", "));
}

}  // namespace gw::cli
