// godwit: the command line. Parses the arguments and hands them to one command.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/code_compiler.h"
#include "cli/commands.h"
#include "isolate/compile_main.h"
#include "os/file.h"

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  const std::vector<std::string> rest(argv + std::min(argc, 2), argv + argc);
  // The compile-only process: nothing of the rest may run in it.
  if (word == gw::cli::kCompileWord) return gw::isolate::compile_only_main(rest);
  if (word == gw::cli::kFillWord) {
    const auto cache = gw::os::cache_dir();
    return cache ? gw::node::fill_code_cache_main(gw::cli::native_code_config(*cache), rest) : 1;
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
