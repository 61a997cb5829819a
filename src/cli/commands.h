#pragma once
// The commands of `godwit`. Each adds its options to the parser and names the function that carries it out.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gw::cli {

// Exit codes, besides those of the program that `run` and `resume` pass through.
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;       // the request or its input was wrong
inline constexpr int kExitSuspended = 75;  // the program was suspended to an image and can be resumed (EX_TEMPFAIL)

// One call of the command line. A command writes its exit code here.
struct Outcome {
  std::vector<std::string> program_args;  // everything after "--": it belongs to the program that is run
  int exit_code = 0;
};

void add_build_command(CLI::App& app, Outcome& outcome);
void add_run_command(CLI::App& app, Outcome& outcome);
void add_resume_command(CLI::App& app, Outcome& outcome);
void add_image_command(CLI::App& app, Outcome& outcome);
void add_version_command(CLI::App& app, Outcome& outcome);

}  // namespace gw::cli
