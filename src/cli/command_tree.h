#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_model.h"
#include "cli/console/console.h"
#include "cli/settings/settings.h"

namespace CLI {
class ParseError;
}

namespace gw::cli {

class CommandTree;

// The arguments of a command besides its own options.
struct Invocation {
  const Settings& settings;
  Console& console;
  const std::vector<std::string>& program_args;  // everything after "--": it belongs to the program that is run
  const CommandTree& tree;
};

// The parser with all commands and their actions. The only place where CLI11's exceptions are caught.
class CommandTree {
 public:
  CommandTree();
  ~CommandTree();

  Command& root() { return commands_.at(parser_.get()); }
  Command& add(Command& parent, const std::string& name, Command::Text text);
  // Adds the flag of a setting. Its value takes part in Settings::resolve.
  void add_setting(Command& command, Key key);

  struct Parsed {
    std::string command;  // "godwit run"
    Action action;
    Command::Needs needs = Command::Needs::settings;
  };
  // Kind::invalid: what is wrong with the command line, in one sentence. --help is an action like any other.
  Result<Parsed> parse(const std::vector<std::string>& args, bool has_program_args);
  // The command that the last parse had reached.
  const std::map<Key, std::string>& flags() const { return flags_; }
  const std::vector<std::string>& overrides() const { return overrides_; }
  std::string current_command() const;

  CommandModel model() const { return model_of(*parser_); }

 private:
  const CLI::App& deepest() const;
  CommandModel model_of(const CLI::App& app) const;
  Error explain(const CLI::ParseError& error) const;
  Parsed help_for(const CLI::App& app) const;

  std::unique_ptr<CLI::App> parser_;
  std::map<const CLI::App*, Command> commands_;  // by their part of the parser
  std::map<Key, std::string> flags_;
  std::vector<std::string> overrides_;
};

}  // namespace gw::cli
