#include <memory>

#include "cli/commands/commands.h"
#include "cli/commands/completion.h"

namespace gw::cli {

void add_completion_command(CommandTree& tree) {
  Command& command = tree.add(tree.root(), "completion",
                              {.summary = "Print a shell completion script",
                               .examples = {"source <(godwit completion bash)", "godwit completion zsh > ~/.zfunc/_godwit",
                                            "godwit completion fish > ~/.config/fish/completions/godwit.fish"}});
  auto shell = std::make_shared<std::string>();
  command.add_choice("SHELL", *shell, "bash, zsh or fish", "SHELL", Command::Presence::required);
  command.on_selected(
      [shell](Invocation& invocation) -> Result<int> {
        const CommandModel model = invocation.tree.model();
        invocation.console.print_text(*shell == "bash"  ? bash_completion(model)
                                      : *shell == "zsh" ? zsh_completion(model)
                                                        : fish_completion(model));
        return 0;
      },
      Command::Needs::nothing);
}

}  // namespace gw::cli
