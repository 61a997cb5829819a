#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_tree.h"
#include "os/files/unique_fd.h"
#include "wire/worker.pb.h"

namespace gw::cli {

// Options that `run` and `resume` share: when to stop, where the image goes, and the limits.
struct RunOptions {
  std::string suspend_after;
  std::optional<std::uint32_t> suspend_after_polls;
  std::string image;
  bool compress = false;
  std::string wall_limit;
  std::string stdin_file;
};

void add_run_options(CommandTree& tree, Command& command, RunOptions& options);

Result<wire::pb::Limits> to_limits(const RunOptions& options, const Settings& settings);

// The file of --stdin. Kind::not_found.
Result<os::UniqueFd> open_stdin_file(const std::string& file);

// A duration that was given to an option: the message names it.
Result<std::chrono::milliseconds> parse_option(std::string_view option, std::string_view text);

}  // namespace gw::cli
