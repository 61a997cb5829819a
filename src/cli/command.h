#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace gw::cli {

struct Invocation;

// Carries out a command; the result is the exit code of the process.
using Action = std::function<Result<int>(Invocation&)>;

// A command of the tree: its options and its action. A variable that an option is read into must outlive the parsing.
//
// Stands between the commands and CLI11, which takes seconds to compile in every file that includes it: only this class and CommandTree do.
class Command {
 public:
  // Commands that help to repair a broken settings file need nothing.
  enum class Needs { settings, nothing };
  enum class Presence { optional, required };

  struct Text {
    std::string summary;
    std::string details;
    std::vector<std::string> examples;
  };

  Command(CLI::App& app, Text text) : app_(app), text_(std::move(text)) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void on_selected(Action action, Needs needs = Needs::settings);
  void require_subcommand();  // it does nothing by itself
  void hide();                // from help and completion
  void allow_program_args();  // words after "--" are for the program it runs

  // Positional arguments, in the order in which they are added.
  void add_argument(const std::string& name, std::string& value, const std::string& description, Presence presence = Presence::required);
  void add_arguments(const std::string& name, std::vector<std::string>& values, const std::string& description,
                     Presence presence = Presence::required);

  void add_flag(const std::string& names, bool& value, const std::string& description);
  void add_option(const std::string& names, std::string& value, const std::string& description, const std::string& placeholder);
  // An option whose value may be left out: `value` is then empty text, and nothing if the option is not given.
  void add_option_with_default(const std::string& names, std::optional<std::string>& value, const std::string& description,
                               const std::string& placeholder);
  // An option that may be given several times, with one value each time.
  void add_repeatable(const std::string& names, std::vector<std::string>& values, const std::string& description,
                      const std::string& placeholder);
  // An option or argument whose value must be one of the choices of its placeholder.
  void add_choice(const std::string& names, std::string& value, const std::string& description, const std::string& placeholder,
                  Presence presence = Presence::optional);
  // An option or argument whose value is a whole number.
  void add_number(const std::string& names, std::optional<std::uint32_t>& value, const std::string& description,
                  const std::string& placeholder, Presence presence = Presence::optional);
  void add_number(const std::string& names, std::optional<std::uint64_t>& value, const std::string& description,
                  const std::string& placeholder);
  // An option whose value is passed to a callback.
  void add_received(const std::string& names, std::function<void(const std::string&)> receive, const std::string& description,
                    const std::string& placeholder);

  CLI::App& app() { return app_; }
  const Text& text() const { return text_; }
  const Action& action() const { return action_; }
  Needs needs() const { return needs_; }
  bool takes_program_args() const { return takes_program_args_; }

 private:
  CLI::App& app_;
  Text text_;
  Action action_;  // none: it only has commands below it
  Needs needs_ = Needs::settings;
  bool takes_program_args_ = false;
};

}  // namespace gw::cli
