#include "cli/commands.h"
#include "isolate/engine_version.h"
#include "wire/image.h"
#include "wire/module_info.h"

namespace gw::cli {

void add_version_command(CommandTree& tree) {
  CLI::App& command =
      tree.add(tree.root(), "version",
               {.summary = "Print versions", .examples = {"godwit version", "godwit version -o json", "godwit version -o quiet"}});
  tree.on_selected(
      command,
      [](Invocation& invocation) -> Result<int> {
        Rows rows;
        rows.add("godwit", "godwit", GODWIT_VERSION)
            .add("engine", "engine", isolate::engine_version())
            .add("abi", "module ABI", wire::kAbiVersion)
            .add("image_format", "image format", wire::kImageVersion);
        invocation.console.print({"godwit.version/1", rows.json(), rows.render(invocation.console.out()), GODWIT_VERSION});
        return 0;
      },
      CommandTree::Needs::settings);
}

}  // namespace gw::cli
