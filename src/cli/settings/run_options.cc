#include "cli/settings/run_options.h"

#include <fcntl.h>

#include <cerrno>

#include "cli/console/quantity.h"
#include "os/files/io.h"

namespace gw::cli {

void add_run_options(CommandTree& tree, Command& command, RunOptions& options) {
  command.add_option("--stdin", options.stdin_file, "Read the program's standard input from this file", "FILE");
  command.add_option("--image", options.image, "File for the suspended program or its checkpoints (default: NAME.gwi)", "FILE");
  command.add_option("--suspend-after", options.suspend_after, "Suspend the program after this time", "TIME");
  command.add_number("--suspend-after-polls", options.suspend_after_polls,
                     "Suspend the program at this poll; needs a build with --poll=counter", "N");
  command.add_flag("--compress", options.compress, "Compress the image (zstd)");
  tree.add_setting(command, Key::memory);
  tree.add_setting(command, Key::time_limit);
  tree.add_setting(command, Key::compile_ahead);
  command.add_option("--wall-limit", options.wall_limit, "Maximum run time of the program (default: 30d)", "TIME");
}

Result<os::UniqueFd> open_stdin_file(const std::string& file) {
  os::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(Kind::not_found, "--stdin {}: it cannot be read: {}", file, os::reason(errno));
  return fd;
}

Result<std::chrono::milliseconds> parse_option(std::string_view option, std::string_view text) {
  auto duration = parse_duration(text);
  if (!duration) return fail(Kind::invalid, "{}: {}", option, duration.error().detail);
  return duration;
}

Result<wire::pb::Limits> to_limits(const RunOptions& options, const Settings& settings) {
  using std::chrono::nanoseconds;
  wire::pb::Limits limits;
  limits.set_memory_pages(settings.memory_pages());
  limits.set_cpu_time_ns(static_cast<std::uint64_t>(nanoseconds(settings.time_limit()).count()));
  if (options.wall_limit.empty()) return limits;
  GW_TRY(auto wall, parse_option("--wall-limit", options.wall_limit));
  if (wall.count() == 0) return fail(Kind::invalid, "--wall-limit: '{}' is too short", options.wall_limit);
  limits.set_wall_time_ns(static_cast<std::uint64_t>(nanoseconds(wall).count()));
  return limits;
}

}  // namespace gw::cli
