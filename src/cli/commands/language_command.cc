#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands/commands.h"
#include "toolchain/languages/script_language.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;
using toolchain::ScriptLanguage;

Result<const ScriptLanguage*> find_language(const std::string& name) {
  if (const ScriptLanguage* found = toolchain::find_script_language(name)) return found;
  std::vector<std::string_view> names;
  for (const ScriptLanguage& language : toolchain::script_languages()) names.push_back(language.name);
  return fail(Kind::not_found, "there is no language '{}': choose one of {}", name, fmt::join(names, ", "));
}

Json to_json(const ScriptLanguage& language, const fs::path& file, bool installed) {
  return {{"name", language.name},
          {"title", language.title},
          {"extension", language.extension},
          {"file", file.string()},
          {"installed", installed}};
}

Result<int> list_languages(Invocation& invocation) {
  Table table({{"NAME", Table::Align::left, Table::Fit::whole, Style::bold}, {"LANGUAGE"}, {"SCRIPTS"}, {"INSTALLED"}});
  Json languages = Json::array();
  std::string names;
  for (const ScriptLanguage& language : toolchain::script_languages()) {
    GW_TRY(const fs::path file, toolchain::interpreter_file(language));
    std::error_code unreadable;
    const bool installed = fs::exists(file, unreadable);
    table.add_row(
        {std::string(language.name), std::string(language.title), "*" + std::string(language.extension), installed ? "yes" : "no"});
    languages.push_back(to_json(language, file, installed));
    if (installed) names += fmt::format("{}{}", names.empty() ? "" : "\n", language.name);
  }
  invocation.console.print({"godwit.language.list/1", {{"languages", languages}}, table.render(invocation.console.out()), names});
  return 0;
}

Result<int> add(const std::string& name, Invocation& invocation) {
  GW_TRY(const ScriptLanguage* language, find_language(name));
  invocation.console.progress(fmt::format("fetching and building the interpreter of {}...", language->title));
  const Status added = toolchain::add_interpreter(*language);
  invocation.console.clear_progress();
  if (!added) return added.error();
  GW_TRY(const fs::path file, toolchain::interpreter_file(*language));
  invocation.console.print({"godwit.language.add/1", to_json(*language, file, true),
                            fmt::format("{} is installed. Run a script with: godwit run FILE{}\n", language->title, language->extension),
                            file.string()});
  return 0;
}

Result<int> remove(const std::string& name, Invocation& invocation) {
  GW_TRY(const ScriptLanguage* language, find_language(name));
  GW_TRY(const fs::path file, toolchain::interpreter_file(*language));
  std::error_code failed;
  if (!fs::remove(file, failed))
    return fail(Kind::not_found, "the interpreter of {} is not installed{}", language->title, failed ? ": " + failed.message() : "");
  invocation.console.print(
      {"godwit.language.remove/1", to_json(*language, file, false), fmt::format("{} is removed.\n", language->title), ""});
  return 0;
}

}  // namespace

void add_language_commands(CommandTree& tree) {
  Command& parent =
      tree.add(tree.root(), "language",
               {.summary = "Install interpreters for scripts",
                .details = "A script runs in its interpreter, which is made mobile once: the script can be suspended and moved in the "
                           "middle of its loops like any program.",
                .examples = {"godwit language list", "godwit language add lua", "godwit run primes.lua -- 1000"}});
  parent.require_subcommand();
  Command& listing = tree.add(parent, "list",
                              {.summary = "Show the languages of scripts and which are installed",
                               .examples = {"godwit language list", "godwit language list -o json"}});
  listing.on_selected(list_languages);
  Command& adding =
      tree.add(parent, "add",
               {.summary = "Install the interpreter of a language",
                .details = "Fetches the interpreter (Lua and JavaScript as Debian's source packages, with apt-get; Python from the npm "
                           "registry, with npm), compiles it and makes it mobile. Takes seconds to two minutes. No root is needed.",
                .examples = {"godwit language add lua", "godwit language add python"}});
  auto added = std::make_shared<std::string>();
  adding.add_argument("NAME", *added, "Name of the language");
  adding.on_selected([added](Invocation& invocation) { return add(*added, invocation); });
  Command& removing = tree.add(parent, "remove",
                               {.summary = "Remove the interpreter of a language",
                                .examples = {"godwit language remove lua", "godwit language remove python -o quiet"}});
  auto removed = std::make_shared<std::string>();
  removing.add_argument("NAME", *removed, "Name of the language");
  removing.on_selected([removed](Invocation& invocation) { return remove(*removed, invocation); });
}

}  // namespace gw::cli
