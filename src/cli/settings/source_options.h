#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_tree.h"
#include "toolchain/build.h"

namespace gw::cli {

// The sources of a program: the files and options that `run` and `build` share.
struct SourceOptions {
  std::vector<std::string> files;
  std::vector<std::string> include_folders;
  std::vector<std::string> definitions;
  std::string optimization;  // empty: as the toolchain likes
  std::vector<std::string> compiler_flags;
  std::string poll = "auto";
  bool verify = false;
  bool debug = false;
};

void add_source_options(CommandTree& tree, Command& command, SourceOptions& options);

// Compiler flags come in the order -O, -I, -D, --cflag, so that a --cflag has the last word.
toolchain::BuildRequest to_build_request(const SourceOptions& options, const Settings& settings);

}  // namespace gw::cli
