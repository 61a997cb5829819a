#include <fmt/format.h>

#include "cli/commands/completion.h"

namespace gw::cli {
namespace {

// The words that compgen offers for a value.
std::string offer(const std::string& placeholder) {
  switch (value_kind(placeholder)) {
    case ValueKind::file:
      return "-f";
    case ValueKind::folder:
      return "-d";
    case ValueKind::choice:
      return fmt::format("-W '{}'", fmt::join(choices_of(placeholder), " "));
    case ValueKind::live:
      return fmt::format("-W '$(godwit complete {} 2>/dev/null)'", live_values_of(placeholder));
    case ValueKind::text:
      return "";
  }
  return "";
}

// case branches: after this option its value comes.
std::string value_branches(const std::string& command, const std::vector<OptionModel>& options) {
  std::string out;
  for (const OptionModel& option : options) {
    if (option.placeholder.empty()) continue;
    std::string patterns;
    for (const std::string& name : option.names) patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : "|", command, name);
    out += fmt::format("    {}) offer=\"{}\" ;;\n", patterns, offer(option.placeholder));
  }
  return out;
}

std::string words_of(const CommandModel& command, const std::vector<OptionModel>& common) {
  std::string words;
  for (const CommandModel& child : command.children)
    if (!child.hidden) words += child.words.back() + " ";
  for (const auto* options : {&command.options, &common})
    for (const OptionModel& option : *options) words += fmt::format("{} ", fmt::join(option.names, " "));
  return words;
}

}  // namespace

std::string bash_completion(const CommandModel& root) {
  std::string paths, values, words, arguments;
  for (const CommandModel* command : all_commands(root)) {
    const std::string name = command->name();
    const std::vector<OptionModel> common = common_options(*command, root);
    if (command != &root) paths += fmt::format("{}'{}'", paths.empty() ? "" : "|", name);
    values += value_branches(name, command->options) + value_branches(name, common);
    words += fmt::format("    '{}') words='{}' ;;\n", name, words_of(*command, common));
    if (!command->arguments.empty())
      arguments += fmt::format("    '{}') offer=\"{}\" ;;\n", name, offer(command->arguments.front().placeholder));
  }
  return fmt::format(R"bash(# bash completion for godwit; load it with: source <(godwit completion bash)
_godwit() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path=godwit offer= words= i
  # bash makes three words of --option=value
  if [[ $current == = ]]; then current=; elif [[ $before == = ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${{COMP_WORDS[i]}} == -- ]]; then COMPREPLY=($(compgen -f -- "$current")); return; fi
    case "$path ${{COMP_WORDS[i]}}" in {0}) path="$path ${{COMP_WORDS[i]}}" ;; esac
  done
  case "$path $before" in
{1}    *) before= ;;
  esac
  if [[ -n $before ]]; then
    if [[ -n $offer ]]; then eval "COMPREPLY=(\$(compgen $offer -- \"\$current\"))"; fi
    return
  fi
  case "$path" in
{2}  esac
  if [[ $current != -* ]]; then
    case "$path" in
{3}    esac
    if [[ -n $offer ]]; then eval "COMPREPLY=(\$(compgen $offer -- \"\$current\"))"; return; fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o filenames -o bashdefault -F _godwit godwit
)bash",
                     paths, values, words, arguments);
}

}  // namespace gw::cli
