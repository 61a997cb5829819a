#include <memory>

#include "cli/commands.h"
#include "cli/report.h"
#include "isolate/engine.h"
#include "wire/image.h"

namespace gw::cli {

void add_version_command(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("version", "Print versions");
  auto format = std::make_shared<Format>(Format::text);
  add_format_option(*command, *format);
  command->callback([format, &outcome] {
    print_rows({{"godwit", "godwit", GODWIT_VERSION, ""},
                {"engine", "engine", isolate::Engine::version(), ""},
                {"abi", "module ABI", wire::kAbiVersion, ""},
                {"image_format", "image format", wire::kImageVersion, ""}},
               *format);
    outcome.exit_code = 0;
  });
}

}  // namespace gw::cli
