#include "cli/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "cli/commands/commands.h"

namespace gw::cli {
namespace {

struct Words {
  std::vector<std::string> own;
  std::vector<std::string> program_args;
  bool has_program_args = false;
};

Words split(const std::vector<std::string>& words) {
  const auto dashes = std::ranges::find(words, "--");
  if (dashes == words.end()) return {.own = words};
  return {.own = {words.begin(), dashes}, .program_args = {dashes + 1, words.end()}, .has_program_args = true};
}

std::optional<std::string> variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// The format for errors in the command line or the settings themselves: that of -o or GODWIT_OUTPUT, as far as they can be parsed.
Format format_of_errors(const Words& words) {
  std::string chosen = variable("GODWIT_OUTPUT").value_or("");
  for (std::size_t i = 0; i < words.own.size(); ++i) {
    const std::string& word = words.own[i];
    if ((word == "-o" || word == "--format") && i + 1 < words.own.size()) chosen = words.own[i + 1];
    if (word.starts_with("-o") && word.size() > 2) chosen = word.substr(2);
    if (word.starts_with("--format=")) chosen = word.substr(9);
  }
  return to_format(chosen);
}

// A command that helps to repair settings uses the flags alone when a file or variable cannot be parsed.
Result<Settings> resolve_settings(const CommandTree& tree, Command::Needs needs) {
  SettingSources sources{
      .flags = tree.flags(), .overrides = tree.overrides(), .variable = variable, .files = SettingFiles::usual().by_strength()};
  auto settings = Settings::resolve(sources);
  if (settings || needs == Command::Needs::settings) return settings;
  sources.variable = [](const std::string&) { return std::nullopt; };
  sources.files.clear();
  return Settings::resolve(sources);
}

}  // namespace

int command_line(const std::vector<std::string>& words) {
  const Words split_words = split(words);
  CommandTree tree;
  add_all_commands(tree);
  Console errors(format_of_errors(split_words), "auto");
  const auto parsed = tree.parse(split_words.own, split_words.has_program_args);
  if (!parsed) return static_cast<int>(errors.report(parsed.error(), tree.current_command()));
  const auto settings = resolve_settings(tree, parsed->needs);
  if (!settings) return static_cast<int>(errors.report(settings.error(), parsed->command));

  Console console(to_format((*settings)[Key::output].text), (*settings)[Key::color].text);
  Invocation invocation{*settings, console, split_words.program_args, tree};
  const Result<int> code = parsed->action(invocation);
  if (!code) return static_cast<int>(console.report(code.error(), parsed->command));
  const Status written = console.flush();
  return written ? *code : static_cast<int>(console.report(written.error(), parsed->command));
}

}  // namespace gw::cli
