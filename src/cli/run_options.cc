#include "cli/run_options.h"

#include "cli/quantity.h"

namespace gw::cli {

void add_run_options(CommandTree& tree, CLI::App& command, RunOptions& options) {
  command.add_option("--suspend-after", options.suspend_after, "Suspend the program after this time")->option_text("TIME");
  CommandTree::add_number(command, "--suspend-after-polls", options.suspend_after_polls,
                          "Suspend it at this poll (programs built with --poll=counter)", "N");
  command.add_option("--image", options.image, "Where to put the image of the suspended program")->option_text("FILE");
  command.add_flag("--compress", options.compress, "Compress the image (zstd)");
  tree.add_setting(command, Key::memory);
  tree.add_setting(command, Key::time_limit);
  command.add_option("--wall-limit", options.wall_limit, "End the program when it takes longer than this (default: 30d)")
      ->option_text("TIME");
}

Result<SuspendPlan> to_plan(const RunOptions& options) {
  SuspendPlan plan{.after_polls = options.suspend_after_polls, .image = options.image};
  if (options.compress) plan.compression = isolate::SaveOptions::Compression::zstd;
  if (!options.suspend_after.empty()) {
    GW_TRY(plan.after, parse_duration(options.suspend_after));
  }
  if (plan.wanted() && plan.image.empty()) return fail(Kind::invalid, "--suspend-after needs --image FILE: where shall the image go?");
  if (!plan.wanted() && !plan.image.empty()) return fail(Kind::invalid, "--image needs --suspend-after TIME: when shall it be suspended?");
  return plan;
}

Result<isolate::Limits> to_limits(const RunOptions& options, const Settings& settings) {
  isolate::Limits limits{.memory_pages = settings.memory_pages(), .cpu_time = settings.time_limit()};
  if (!options.wall_limit.empty()) {
    GW_TRY(limits.wall_time, parse_duration(options.wall_limit));
  }
  return limits;
}

}  // namespace gw::cli
