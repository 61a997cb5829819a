#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/settings/settings_file.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

Result<int> list_settings(Invocation& invocation) {
  Table table({{"KEY", Table::Align::left, Table::Fit::whole, Style::bold},
               {"VALUE"},
               {"FROM", Table::Align::left, Table::Fit::cut},
               {"VARIABLE", Table::Align::left, Table::Fit::cut, Style::dim}});
  Json settings = Json::array();
  std::string lines;
  for (const SettingKey& key : setting_keys()) {
    const Settings::Value& value = invocation.settings[key.key];
    table.add_row({std::string(key.name), value.text, value.origin, variable_name(key)});
    settings.push_back({{"key", key.name}, {"value", value.text}, {"origin", value.origin}, {"variable", variable_name(key)}});
    lines += fmt::format("{}{}={}", lines.empty() ? "" : "\n", key.name, value.text);
  }
  invocation.console.print({"godwit.config.list/1", {{"settings", settings}}, table.render(invocation.console.out()), lines});
  return 0;
}

Result<int> get(Invocation& invocation, const std::string& name) {
  GW_TRY(Key key, find_setting(name));
  const Settings::Value& value = invocation.settings[key];
  const Json json = {{"key", name}, {"value", value.text}, {"origin", value.origin}, {"variable", variable_name(setting_key(key))}};
  invocation.console.print({"godwit.config.get/1", json, value.text + "\n", value.text});
  return 0;
}

fs::path file_of(const std::string& scope) {
  const SettingFiles files = SettingFiles::usual();
  return scope == "project" ? files.project : scope == "system" ? files.system : files.user;
}

Result<int> set(Invocation& invocation, const std::string& assignment, const std::string& scope) {
  GW_TRY(auto setting, parse_setting(assignment));
  const fs::path file = file_of(scope);
  GW_TRY_VOID(write_setting(file, setting.first, setting.second));
  const std::string name(setting_key(setting.first).name);
  const Json json = {{"key", name}, {"value", setting.second}, {"file", file.string()}};
  invocation.console.print({"godwit.config.set/1", json, fmt::format("{} = {} in {}\n", name, setting.second, file.string()), ""});
  return 0;
}

Result<int> path(Invocation& invocation) {
  const SettingFiles files = SettingFiles::usual();
  Table table({{"SCOPE", Table::Align::left, Table::Fit::whole, Style::bold}, {"FILE"}, {"EXISTS"}});
  Json list = Json::array();
  for (const char* scope : {"project", "user", "system"}) {
    std::error_code unreadable;
    const fs::path file = file_of(scope);
    const bool exists = fs::exists(file, unreadable);
    table.add_row({scope, file.string(), exists ? "yes" : "no"});
    list.push_back({{"scope", scope}, {"file", file.string()}, {"exists", exists}});
  }
  invocation.console.print({"godwit.config.path/1", {{"files", list}}, table.render(invocation.console.out()), files.user.string()});
  return 0;
}

void add_get(CommandTree& tree, Command& parent) {
  Command& command =
      tree.add(parent, "get",
               {.summary = "Print the value of one setting", .examples = {"godwit config get memory", "godwit config get output -o json"}});
  auto name = std::make_shared<std::string>();
  command.add_argument("KEY", *name, "Name of the setting");
  command.on_selected([name](Invocation& invocation) { return get(invocation, *name); });
}

void add_set(CommandTree& tree, Command& parent) {
  Command& command = tree.add(parent, "set",
                              {.summary = "Write one setting to a file",
                               .details = "Keeps comments and all other lines of the file.",
                               .examples = {"godwit config set memory=512M", "godwit config set checkpoint-every=1m --scope project"}});
  auto assignment = std::make_shared<std::string>();
  auto scope = std::make_shared<std::string>("user");
  command.add_argument("KEY=VALUE", *assignment, "Setting and its new value");
  command.add_choice("--scope", *scope, "File to write: user, project (./godwit.toml) or system (default: user)", "SCOPE");
  command.on_selected([assignment, scope](Invocation& invocation) { return set(invocation, *assignment, *scope); },
                      Command::Needs::nothing);
}

}  // namespace

void add_config_commands(CommandTree& tree) {
  Command& config = tree.add(
      tree.root(), "config",
      {.summary = "Show and change settings",
       .details = "The value of a setting is taken from the first of: its flag, --config, its GODWIT_ variable, ./godwit.toml, the user's "
                  "config.toml, /etc/godwit/config.toml.",
       .examples = {"godwit config list", "godwit config set memory=512M", "godwit run nbody.c --config time-limit=10s"}});
  config.require_subcommand();
  Command& list_command =
      tree.add(config, "list",
               {.summary = "Show every setting and where it comes from", .examples = {"godwit config list", "godwit config list -o json"}});
  list_command.on_selected(list_settings);
  add_get(tree, config);
  add_set(tree, config);
  Command& path_command = tree.add(config, "path",
                                   {.summary = "Show the settings files, in order of precedence",
                                    .examples = {"godwit config path", "$EDITOR $(godwit config path -o quiet)"}});
  path_command.on_selected(path, Command::Needs::nothing);
}

}  // namespace gw::cli
