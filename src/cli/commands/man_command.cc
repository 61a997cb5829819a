#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/commands/man_page.h"
#include "os/files/file.h"

namespace gw::cli {
namespace {

struct ManOptions {
  std::vector<std::string> words;
  std::string folder;
};

Status write_all(const CommandModel& root, const std::filesystem::path& folder) {
  for (const CommandModel* command : all_commands(root))
    GW_TRY_VOID(os::write_file_atomic(folder / (command->dashed_name() + ".1"), as_bytes(man_page(*command, root, GODWIT_VERSION)),
                                      os::Durability::unflushed));
  return ok();
}

Result<int> man(const ManOptions& options, Invocation& invocation) {
  const CommandModel root = invocation.tree.model();
  if (!options.folder.empty()) {
    GW_TRY_VOID(write_all(root, options.folder));
    return 0;
  }
  std::vector<std::string> wanted = options.words;
  wanted.insert(wanted.begin(), "godwit");
  const auto commands = all_commands(root);
  const auto found = std::ranges::find(commands, wanted, [](const CommandModel* command) { return command->words; });
  if (found == commands.end()) return fail(Kind::not_found, "there is no such command: list the commands with 'godwit --help'");
  invocation.console.print_text(man_page(**found, root, GODWIT_VERSION));
  return 0;
}

}  // namespace

// Hidden: the build calls it, users call man(1).
void add_man_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "man",
      {.summary = "Print the manual page of a command", .examples = {"godwit man run | man -l -", "godwit man --folder share/man/man1"}});
  command.hide();
  auto options = std::make_shared<ManOptions>();
  command.add_arguments("COMMAND", options->words, "Words of the command (default: godwit itself)", Command::Presence::optional);
  command.add_option("--folder", options->folder, "Write the pages of all commands to this folder", "FOLDER");
  command.on_selected([options](Invocation& invocation) { return man(*options, invocation); }, Command::Needs::nothing);
}

}  // namespace gw::cli
