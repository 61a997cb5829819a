// godwit: the command line. Parses the arguments and hands them to one command.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "isolate/compile_main.h"

int main(int argc, char** argv) {
  // The compile-only process: nothing of the rest may run in it.
  if (argc > 1 && std::string_view(argv[1]) == "compile") {
    const std::vector<std::string> args(argv + 2, argv + argc);
    return gw::isolate::compile_only_main(args);
  }
  CLI::App app("Godwit: programs that move while they run.", "godwit");
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of all commands");
  char** const end = argv + argc;
  char** const dashes = std::find_if(argv + 1, end, [](const char* word) { return std::string_view(word) == "--"; });
  gw::cli::Outcome outcome;
  if (dashes != end) outcome.program_args.assign(dashes + 1, end);
  gw::cli::add_run_command(app, outcome);
  gw::cli::add_resume_command(app, outcome);
  gw::cli::add_build_command(app, outcome);
  gw::cli::add_image_command(app, outcome);
  gw::cli::add_version_command(app, outcome);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::ParseError& error) {  // also thrown for --help, whose exit code is 0
    return app.exit(error) == 0 ? 0 : gw::cli::kExitUsage;
  }
  return outcome.exit_code;
}
