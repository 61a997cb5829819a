#include "cli/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>

#include "cli/command_model.h"

namespace gw::cli {
namespace {

// CLI11 would read -1, and numbers that are too large, as the largest number.
template <class T>
void add_whole_number(CLI::App& app, const std::string& names, std::optional<T>& value, const std::string& description,
                      const std::string& placeholder, bool required) {
  const auto check = [](const std::string& word) {
    T number{};
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool whole = failure == std::errc() && end == word.data() + word.size();
    return whole ? std::string() : fmt::format("'{}' is not a whole number from 0 to {}", word, std::numeric_limits<T>::max());
  };
  app.add_option(names, value, description)->check(check)->required(required)->option_text(placeholder);
}

}  // namespace

void Command::on_selected(Action action, Needs needs) {
  action_ = std::move(action);
  needs_ = needs;
}

void Command::require_subcommand() { app_.require_subcommand(1); }

void Command::hide() { app_.group(""); }

void Command::allow_program_args() { takes_program_args_ = true; }

void Command::add_argument(const std::string& name, std::string& value, const std::string& description, Presence presence) {
  app_.add_option(name, value, description)->required(presence == Presence::required)->option_text(name);
}

void Command::add_arguments(const std::string& name, std::vector<std::string>& values, const std::string& description, Presence presence) {
  app_.add_option(name, values, description)->required(presence == Presence::required)->option_text(name);
}

void Command::add_flag(const std::string& names, bool& value, const std::string& description) { app_.add_flag(names, value, description); }

void Command::add_option(const std::string& names, std::string& value, const std::string& description, const std::string& placeholder) {
  app_.add_option(names, value, description)->option_text(placeholder);
}

void Command::add_option_with_default(const std::string& names, std::optional<std::string>& value, const std::string& description,
                                      const std::string& placeholder) {
  const auto take = [&value](const std::vector<std::string>& words) {
    value = words.empty() ? "" : words.front();
    return true;
  };
  app_.add_option(names, take, description)->expected(0, 1)->option_text(placeholder);
}

void Command::add_repeatable(const std::string& names, std::vector<std::string>& values, const std::string& description,
                             const std::string& placeholder) {
  // Without extra arguments, because the option would otherwise swallow the words behind its value.
  app_.add_option(names, values, description)->allow_extra_args(false)->option_text(placeholder);
}

void Command::add_choice(const std::string& names, std::string& value, const std::string& description, const std::string& placeholder,
                         Presence presence) {
  const auto check = [words = choices_of(placeholder)](const std::string& word) {
    const bool known = std::ranges::find(words, word) != words.end();
    return known ? std::string() : fmt::format("'{}' is not one of {}", word, fmt::join(words, ", "));
  };
  app_.add_option(names, value, description)->check(check)->required(presence == Presence::required)->option_text(placeholder);
}

void Command::add_number(const std::string& names, std::optional<std::uint32_t>& value, const std::string& description,
                         const std::string& placeholder, Presence presence) {
  add_whole_number(app_, names, value, description, placeholder, presence == Presence::required);
}

void Command::add_number(const std::string& names, std::optional<std::uint64_t>& value, const std::string& description,
                         const std::string& placeholder) {
  add_whole_number(app_, names, value, description, placeholder, false);
}

void Command::add_received(const std::string& names, std::function<void(const std::string&)> receive, const std::string& description,
                           const std::string& placeholder) {
  app_.add_option_function<std::string>(names, receive, description)->option_text(placeholder);
}

}  // namespace gw::cli
