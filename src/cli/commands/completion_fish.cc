#include <fmt/format.h>

#include "cli/commands/completion.h"

namespace gw::cli {
namespace {

std::string fish_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string fish_value(const std::string& placeholder) {
  switch (value_kind(placeholder)) {
    case ValueKind::file:
      return " -r -F";
    case ValueKind::folder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::choice:
      return fmt::format(" -x -a '{}'", fmt::join(choices_of(placeholder), " "));
    case ValueKind::live:
      return fmt::format(" -x -a '(godwit complete {} 2>/dev/null)'", live_values_of(placeholder));
    case ValueKind::text:
      return " -x";
  }
  return "";
}

std::string option_lines(const std::string& condition, const std::vector<OptionModel>& options) {
  std::string out;
  for (const OptionModel& option : options) {
    std::string names;
    for (const std::string& name : option.names)
      names += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
    out += fmt::format("complete -c godwit -n '{}'{}{} -d '{}'\n", condition, names,
                       option.placeholder.empty() ? "" : fish_value(option.placeholder), fish_quoted(option.description));
  }
  return out;
}

std::string command_lines(const CommandModel& command, const std::vector<OptionModel>& common) {
  const std::string condition = fmt::format("__godwit_at {}", command.name());
  std::string out;
  for (const CommandModel& child : command.children)
    if (!child.hidden)
      out += fmt::format("complete -c godwit -n '{}' -f -a {} -d '{}'\n", condition, child.words.back(), fish_quoted(child.summary));
  for (const OptionModel& argument : command.arguments) {
    const std::string value = fish_value(argument.placeholder);
    if (value != " -x") out += fmt::format("complete -c godwit -n '{}'{}\n", condition, value);
  }
  return out + option_lines(condition, command.options) + option_lines(condition, common);
}

}  // namespace

std::string fish_completion(const CommandModel& root) {
  std::string names;
  std::string lines;
  for (const CommandModel* command : all_commands(root)) {
    names += fmt::format(" '{}'", command->name());
    lines += command_lines(*command, common_options(*command, root));
  }
  return fmt::format(R"fish(# fish completion for godwit; load it with: godwit completion fish | source
function __godwit_at --description 'Whether the command line is at this command'
    set -l path godwit
    for word in (commandline -opc)[2..-1]
        contains -- "$path $word"{0}; and set path "$path $word"
    end
    test "$path" = "$argv"
end
complete -c godwit -f
{1})fish",
                     names, lines);
}

}  // namespace gw::cli
