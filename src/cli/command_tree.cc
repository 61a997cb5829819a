#include "cli/command_tree.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ranges>

#include "cli/help_page.h"
#include "cli/nearest.h"

namespace gw::cli {
namespace {

constexpr const char* kVersionLine = "godwit " GODWIT_VERSION;

// "godwit", "image", "show"
std::vector<std::string> words_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) words.insert(words.begin(), at->get_name());
  return words;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (names.empty()) names.push_back(option.get_name(true));
  return names;
}

OptionModel model_of(const CLI::Option& option) {
  return {.names = names_of(option),
          .placeholder = option.get_items_expected_max() == 0 ? "" : option.get_option_text(),
          .description = option.get_description(),
          .repeatable = option.get_items_expected_max() > 1,
          .required = option.get_required()};
}

bool is_hidden(const CLI::App& command) { return command.get_group().empty(); }

std::string unknown_option(const std::string& word, const CLI::App& command, const CLI::App& root, const std::string& name) {
  const std::string option = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const CLI::App* app : {&command, &root})
    for (const CLI::Option* candidate : app->get_options()) std::ranges::copy(names_of(*candidate), std::back_inserter(known));
  if (std::ranges::find(known, option) != known.end()) return fmt::format("'{0}' belongs behind the command: {1} {0} ...", option, name);
  const auto meant = nearest(option, known);
  return fmt::format("'{}' has no option '{}': {}", name, option,
                     meant ? fmt::format("did you mean '{}'?", *meant) : fmt::format("list the options with '{} --help'", name));
}

std::string unknown_word(const std::string& word, const CLI::App& command, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* child : command.get_subcommands({}))
    if (!is_hidden(*child)) known.push_back(child->get_name());
  if (known.empty()) return fmt::format("'{}' takes no argument '{}': see '{} --help'", name, word, name);
  const auto meant = nearest(word, known);
  return fmt::format("'{}' has no command '{}': {}", name, word,
                     meant ? fmt::format("did you mean '{}'?", *meant) : fmt::format("choose one of {}", fmt::join(known, ", ")));
}

}  // namespace

CommandTree::CommandTree() : parser_(std::make_unique<CLI::App>("Run programs on idle machines and move them while they run", "godwit")) {
  parser_->fallthrough();
  parser_->set_help_flag("-h,--help", "Print this help");
  parser_->set_version_flag("--version", kVersionLine, "Print the version; 'godwit version' prints more");
  Command& root = commands_.try_emplace(parser_.get(), *parser_, Command::Text{.summary = parser_->get_description()}).first->second;
  root.require_subcommand();
  add_setting(root, Key::output);
  add_setting(root, Key::color);
  root.add_repeatable("--config", overrides_, "Override a setting for this call; list them with 'godwit config list'", "KEY=VALUE");
}

CommandTree::~CommandTree() = default;

Command& CommandTree::add(Command& parent, const std::string& name, Command::Text text) {
  CLI::App& app = *parent.app().add_subcommand(name, text.summary);
  return commands_.try_emplace(&app, app, std::move(text)).first->second;
}

void CommandTree::add_setting(Command& command, Key key) {
  const SettingKey& setting = setting_key(key);
  command.add_received(
      std::string(setting.flag), [this, key](const std::string& value) { flags_[key] = value; },
      fmt::format("{} (default: {})", setting.description, setting.built_in), std::string(setting.placeholder));
}

const CLI::App& CommandTree::deepest() const {
  const CLI::App* app = parser_.get();
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

std::string CommandTree::current_command() const { return fmt::format("{}", fmt::join(words_of(deepest()), " ")); }

Result<CommandTree::Parsed> CommandTree::parse(const std::vector<std::string>& args, bool has_program_args) {
  try {
    std::vector<std::string> reversed(args.rbegin(), args.rend());  // as the parser wants it
    parser_->parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return help_for(deepest());
  } catch (const CLI::CallForVersion&) {
    const auto show = [](Invocation& invocation) -> Result<int> {
      invocation.console.print_text(kVersionLine + std::string("\n"));
      return 0;
    };
    return Parsed{current_command(), show, Command::Needs::nothing};
  } catch (const CLI::ParseError& error) {
    return explain(error);
  }
  const Command& command = commands_.at(&deepest());
  if (has_program_args && !command.takes_program_args())
    return fail(Kind::invalid, "'{}' runs no program: drop -- and what follows it", current_command());
  GW_ASSERT(command.action());
  return Parsed{current_command(), command.action(), command.needs()};
}

CommandTree::Parsed CommandTree::help_for(const CLI::App& app) const {
  const CommandModel command = model_of(app);
  const std::vector<OptionModel> common = common_options(command, model());
  const auto show = [command, common](Invocation& invocation) -> Result<int> {
    invocation.console.print_text(help_page(command, common, invocation.console.out()));
    return 0;
  };
  return {current_command(), show, Command::Needs::nothing};
}

Error CommandTree::explain(const CLI::ParseError& error) const {
  const CLI::App& command = deepest();
  const std::string name = current_command();
  const std::vector<std::string> unexpected = parser_->remaining(true);
  if (!unexpected.empty()) {
    const std::string& word = unexpected.front();
    return fail(Kind::invalid, "{}",
                word.starts_with('-') ? unknown_option(word, command, *parser_, name) : unknown_word(word, command, name));
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    for (const CLI::Option* option : command.get_options())
      if (option->get_required() && option->empty())
        return fail(Kind::invalid, "{} is missing: {}", option->get_name(true), usage_line(model_of(command)));
    return fail(Kind::invalid, "a command is missing: list the commands with '{} --help'", name);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string message = error.what();
    return fail(Kind::invalid, "{} needs one value: see '{} --help'", message.substr(0, message.find(':')), name);
  }
  return fail(Kind::invalid, "{}", error.what());
}

CommandModel CommandTree::model_of(const CLI::App& app) const {
  const Command& command = commands_.at(&app);
  const Command::Text& text = command.text();
  CommandModel model{.words = words_of(app),
                     .summary = text.summary,
                     .details = text.details,
                     .examples = text.examples,
                     .hidden = is_hidden(app),
                     .takes_program_args = command.takes_program_args()};
  for (const CLI::Option* option : app.get_options())
    (option->get_positional() ? model.arguments : model.options).push_back(gw::cli::model_of(*option));
  for (const CLI::App* child : app.get_subcommands({})) model.children.push_back(model_of(*child));
  return model;
}

}  // namespace gw::cli
