#pragma once
// The commands and options of `godwit` as plain data, taken from the parser's tree. Help, man pages and completions are made from it, so
// they always agree with the parser.

#include <string>
#include <vector>

#include "cli/value_kinds.h"

namespace gw::cli {

struct OptionModel {
  std::vector<std::string> names;  // "-o", "--format"; of an argument its placeholder
  std::string placeholder;         // empty: a flag without a value
  std::string description;
  bool repeatable = false;
  bool required = false;
};

struct CommandModel {
  std::vector<std::string> words;  // "godwit", "image", "show"
  std::string summary;             // one line
  std::string details;             // paragraphs; may be empty
  std::vector<std::string> examples;
  bool hidden = false;
  bool takes_program_args = false;     // after --
  std::vector<OptionModel> arguments;  // in order
  std::vector<OptionModel> options;    // its own; those of the root are understood everywhere
  std::vector<CommandModel> children;

  std::string name() const;         // "godwit image show"
  std::string dashed_name() const;  // "godwit-image-show"
};

// The command and all its subcommands, without hidden ones.
std::vector<const CommandModel*> all_commands(const CommandModel& root);

// The options of the root that `command` understands besides its own; none of the root itself.
std::vector<OptionModel> common_options(const CommandModel& command, const CommandModel& root);

// "-o, --format FORMAT"; the name of an argument
std::string signature(const OptionModel& option);
// "godwit run [OPTIONS] FILE... [-- ARGS...]"
std::string usage_line(const CommandModel& command);

}  // namespace gw::cli
