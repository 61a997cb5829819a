#include "cli/commands/man_page.h"

#include <fmt/format.h>

#include "cli/exit_codes.h"
#include "cli/settings/setting_keys.h"

namespace gw::cli {
namespace {

// Escapes `text` so that roff reads no macro in it and keeps dashes.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'' && (out.empty() || out.back() == '\n')) {
      out += "\\(aq";
    } else if (c == '.' && (out.empty() || out.back() == '\n')) {
      out += "\\&.";
    } else {
      out += c;
    }
  }
  return out;
}

std::string item(std::string_view name, std::string_view description) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(name), roff(description));
}

std::string option_section(const char* heading, const std::vector<OptionModel>& options) {
  if (options.empty()) return "";
  std::string out = fmt::format(".SH {}\n", heading);
  for (const OptionModel& option : options) out += item(signature(option), option.description);
  return out;
}

std::string commands_section(const CommandModel& command) {
  if (command.children.empty()) return "";
  std::string out = ".SH COMMANDS\n";
  for (const CommandModel& child : command.children)
    if (!child.hidden) out += item(child.dashed_name() + "(1)", child.summary + ".");
  return out;
}

std::string examples_section(const std::vector<std::string>& examples) {
  if (examples.empty()) return "";
  std::string out = ".SH EXAMPLES\n.EX\n";
  for (const std::string& example : examples) out += roff(example) + "\n";
  return out + ".EE\n";
}

std::string exit_section(const CommandModel& command) {
  std::string out = ".SH EXIT STATUS\n";
  if (command.takes_program_args) out += "The exit code of the program if it ended by itself, otherwise:\n";
  for (const ExitCodeEntry& entry : kExitCodes) out += item(std::to_string(static_cast<int>(entry.code)), std::string(entry.meaning) + ".");
  return out;
}

std::string environment_section() {
  std::string out = ".SH ENVIRONMENT\n";
  for (const SettingKey& key : setting_keys())
    out += item(variable_name(key), fmt::format("{} (setting {}, default {}).", key.description, key.name, key.built_in));
  return out + item("NO_COLOR", "Disables colours if it is set and not empty.");
}

std::string files_section() {
  return ".SH FILES\nSettings, in order of precedence:\n" + item("./godwit.toml", "of the folder the command is called in") +
         item("~/.config/godwit/config.toml", "of the user") + item("/etc/godwit/config.toml", "of the machine");
}

}  // namespace

std::string man_page(const CommandModel& command, const CommandModel& root, const std::string& version) {
  const bool is_root = command.words == root.words;
  std::string upper = command.dashed_name();
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string out = fmt::format(".TH {} 1 \"\" \"godwit {}\" \"User Commands\"\n", roff(upper), version);
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff(command.dashed_name()), roff(command.summary));
  out += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR\n", roff(usage_line(command)));
  out += fmt::format(".SH DESCRIPTION\n{}.\n{}\n", roff(command.summary), roff(command.details));
  out += commands_section(command) + option_section("ARGUMENTS", command.arguments) + option_section("OPTIONS", command.options);
  out += option_section("OPTIONS OF EVERY COMMAND", common_options(command, root));
  out += examples_section(command.examples) + exit_section(command);
  if (is_root) out += environment_section() + files_section();
  return out;
}

}  // namespace gw::cli
