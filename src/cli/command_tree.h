#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/command_model.h"
#include "cli/console.h"
#include "cli/settings.h"

namespace gw::cli {

class CommandTree;

// One call of a command: what it needs besides its own options.
struct Invocation {
  const Settings& settings;
  Console& console;
  const std::vector<std::string>& program_args;  // everything after "--": it belongs to the program that is run
  const CommandTree& tree;
};

// Carries out a command; the result is the exit code of the process.
using Action = std::function<Result<int>(Invocation&)>;

// The parser with all commands, and what they do. The only place that sees CLI11's exceptions.
class CommandTree {
 public:
  // Whether a command has to work although a settings file is broken: those that help to repair it.
  enum class Needs { settings, nothing };

  struct Text {
    std::string summary;
    std::string details;
    std::vector<std::string> examples;
  };

  CommandTree();

  CLI::App& root() { return root_; }
  CLI::App& add(CLI::App& parent, const std::string& name, Text text);
  void hide(CLI::App& command) { command.group(""); }
  void on_selected(CLI::App& command, Action action, Needs needs = Needs::settings);
  void allow_program_args(CLI::App& command) { takes_program_args_.insert(&command); }

  // The flag of a setting. Its value takes part in Settings::resolve.
  void add_setting(CLI::App& command, Key key);
  // An option with a value that must be one of the choices of its placeholder.
  static CLI::Option* add_choice(CLI::App& command, const std::string& names, std::string& value, const std::string& description,
                                 const std::string& placeholder);
  // An option whose value is a whole number. The parser itself would take -1, and what is too large, for the largest one.
  template <class T>
  static CLI::Option* add_number(CLI::App& command, const std::string& names, std::optional<T>& value, const std::string& description,
                                 const std::string& placeholder) {
    const auto check = [](const std::string& word) {
      T number{};
      const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
      const bool whole = failure == std::errc() && end == word.data() + word.size();
      return whole ? std::string() : fmt::format("'{}' is not a whole number from 0 to {}", word, std::numeric_limits<T>::max());
    };
    return command.add_option(names, value, description)->check(check)->option_text(placeholder);
  }
  // An option that may be given again and again, with one value each time.
  static CLI::Option* add_repeatable(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                                     const std::string& description, const std::string& placeholder);

  struct Parsed {
    std::string command;  // "godwit run"
    Action action;
    Needs needs = Needs::settings;
  };
  // A wrong command line is Kind::invalid, one sentence. --help is carried out like a command.
  Result<Parsed> parse(const std::vector<std::string>& args, bool has_program_args);
  // Of the last parse, as far as it came.
  const std::map<Key, std::string>& flags() const { return flags_; }
  const std::vector<std::string>& overrides() const { return overrides_; }
  std::string current_command() const;

  CommandModel model() const { return model_of(root_); }

 private:
  struct Command {
    Text text;
    Action action;  // none: it only has commands below it
    Needs needs = Needs::settings;
  };

  const CLI::App& deepest() const;
  CommandModel model_of(const CLI::App& app) const;
  Error explain(const CLI::ParseError& error) const;
  Parsed help_for(const CLI::App& app) const;

  CLI::App root_;
  std::map<const CLI::App*, Command> commands_;
  std::set<const CLI::App*> takes_program_args_;
  std::map<Key, std::string> flags_;
  std::vector<std::string> overrides_;
};

}  // namespace gw::cli
