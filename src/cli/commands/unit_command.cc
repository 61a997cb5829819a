#include <memory>

#include "cli/commands/commands.h"
#include "cli/daemon/systemd_unit.h"

namespace gw::cli {

// Hidden: `make install` and the package call it. For users there is 'godwit up --install'.
void add_unit_command(CommandTree& tree) {
  Command& command =
      tree.add(tree.root(), "unit",
               {.summary = "Print the systemd user unit that starts an installed godwit", .examples = {"godwit unit /usr/bin/godwit"}});
  command.hide();
  auto program = std::make_shared<std::string>();
  command.add_argument("PROGRAM", *program, "Path of the installed godwit");
  command.on_selected(
      [program](Invocation& invocation) -> Result<int> {
        if (!program->starts_with('/')) return fail(Kind::invalid, "'{}' is not an absolute path: systemd needs one", *program);
        invocation.console.print_text(unit_text({*program, "up", "--foreground"}));
        return 0;
      },
      Command::Needs::nothing);
}

}  // namespace gw::cli
