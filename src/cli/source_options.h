#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/report.h"
#include "toolchain/build.h"

namespace gw::cli {

// What a program is made of: the files and options that `run` and `build` share.
struct SourceOptions {
  std::vector<std::string> files;
  std::vector<std::string> include_folders;
  std::vector<std::string> definitions;
  std::optional<std::string> optimization;
  std::vector<std::string> compiler_flags;
  MobilityOptions mobility;
};

void add_source_options(CLI::App& command, SourceOptions& options);

// Compiler flags come in the order -O, -I, -D, --cflag, so that a --cflag has the last word.
toolchain::BuildRequest to_build_request(const SourceOptions& options);

// An option that may be given again and again, with one value each time.
CLI::Option* add_repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values, const std::string& description);

}  // namespace gw::cli
