#include "cli/command_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace gw::cli {

std::string CommandModel::name() const { return fmt::format("{}", fmt::join(words, " ")); }

std::string CommandModel::dashed_name() const { return fmt::format("{}", fmt::join(words, "-")); }

std::vector<const CommandModel*> all_commands(const CommandModel& root) {
  std::vector<const CommandModel*> found = {&root};
  for (const CommandModel& child : root.children) {
    if (child.hidden) continue;
    const auto below = all_commands(child);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

std::vector<OptionModel> common_options(const CommandModel& command, const CommandModel& root) {
  std::vector<OptionModel> common;
  for (const OptionModel& option : root.options)
    if (std::ranges::find(command.options, option.names, &OptionModel::names) == command.options.end()) common.push_back(option);
  return common;
}

std::string signature(const OptionModel& option) {
  if (!option.names.front().starts_with('-')) return option.names.front();
  std::string text = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.placeholder.empty()) text += " " + option.placeholder;
  return text;
}

std::string usage_line(const CommandModel& command) {
  std::string line = command.name();
  if (!command.children.empty()) line += " COMMAND";
  line += " [OPTIONS]";
  for (const OptionModel& argument : command.arguments) {
    const std::string name = argument.names.front() + (argument.repeatable ? "..." : "");
    line += argument.required ? " " + name : fmt::format(" [{}]", name);
  }
  if (command.takes_program_args) line += " [-- ARGS...]";
  return line;
}

}  // namespace gw::cli
