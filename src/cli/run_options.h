#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_tree.h"
#include "cli/session.h"

namespace gw::cli {

// What `run` and `resume` share: when to stop, where to put what is left then, and the limits.
struct RunOptions {
  std::string suspend_after;
  std::optional<std::uint32_t> suspend_after_polls;
  std::string image;
  bool compress = false;
  std::string wall_limit;
};

void add_run_options(CommandTree& tree, CLI::App& command, RunOptions& options);

Result<SuspendPlan> to_plan(const RunOptions& options);
Result<isolate::Limits> to_limits(const RunOptions& options, const Settings& settings);

}  // namespace gw::cli
