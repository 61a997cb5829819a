#include <fmt/format.h>

#include "cli/commands/completion.h"

namespace gw::cli {
namespace {

// Inside '...' and inside the brackets of _arguments.
std::string zsh_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
      out += {'\\', c};
    } else {
      out += c;
    }
  }
  return out;
}

// ":message:action" for a value.
std::string zsh_value(const std::string& placeholder) {
  switch (value_kind(placeholder)) {
    case ValueKind::file:
      return fmt::format(":{}:_files", zsh_quoted(placeholder));
    case ValueKind::folder:
      return fmt::format(":{}:_files -/", zsh_quoted(placeholder));
    case ValueKind::choice:
      return fmt::format(":{}:({})", zsh_quoted(placeholder), fmt::join(choices_of(placeholder), " "));
    case ValueKind::live:
      return fmt::format(":{}: _godwit_live {}", zsh_quoted(placeholder), live_values_of(placeholder));
    case ValueKind::text:
      return fmt::format(":{}: ", zsh_quoted(placeholder));
  }
  return "";
}

std::string option_specs(const std::vector<OptionModel>& options) {
  std::string out;
  for (const OptionModel& option : options) {
    for (const std::string& name : option.names) {
      const std::string joint = option.placeholder.empty() ? "" : name.starts_with("--") ? "=" : "+";
      const std::string value = option.placeholder.empty() ? "" : zsh_value(option.placeholder);
      out += fmt::format("    '{}{}{}[{}]{}' \\\n", option.repeatable ? "*" : "", name, joint, zsh_quoted(option.description), value);
    }
  }
  return out;
}

std::string function_name(const CommandModel& command) { return "_" + command.dashed_name(); }

std::string leaf(const CommandModel& command, const std::vector<OptionModel>& common) {
  std::string out = fmt::format("{}() {{\n  _arguments -s \\\n", function_name(command));
  out += option_specs(command.options) + option_specs(common);
  for (const OptionModel& argument : command.arguments)
    out += fmt::format("    '{}{}' \\\n", argument.repeatable ? "*" : "", zsh_value(argument.placeholder));
  return out + "    && return 0\n}\n\n";
}

std::string branch(const CommandModel& command, const std::vector<OptionModel>& common) {
  std::string names, calls;
  for (const CommandModel& child : command.children) {
    if (child.hidden) continue;
    names += fmt::format("    '{}:{}'\n", child.words.back(), zsh_quoted(child.summary));
    calls += fmt::format("    {}) {} ;;\n", child.words.back(), function_name(child));
  }
  return fmt::format(R"zsh({0}() {{
  local context state line
  local -a commands=(
{1}  )
  _arguments -s -C \
{2}    '1: :->command' '*:: :->rest' && return 0
  case $state in
  command) _describe command commands ;;
  rest)
    case $words[1] in
{3}    esac ;;
  esac
}}

)zsh",
                     function_name(command), names, option_specs(command.options) + option_specs(common), calls);
}

}  // namespace

std::string zsh_completion(const CommandModel& root) {
  std::string out = "#compdef godwit\n# zsh completion for godwit; put it as _godwit into a folder of $fpath\n\n";
  out += "_godwit_live() {\n  local -a words=(${(f)\"$(godwit complete $1 2>/dev/null)\"})\n  compadd -a words\n}\n\n";
  for (const CommandModel* command : all_commands(root)) {
    const std::vector<OptionModel> common = common_options(*command, root);
    out += command->children.empty() ? leaf(*command, common) : branch(*command, common);
  }
  return out + "compdef _godwit godwit\n";
}

}  // namespace gw::cli
