#include "cli/jobs/grid_options.h"

#include <unistd.h>

#include <ranges>

#include "cli/jobs/stdin_file.h"
#include "wire/grid_name.h"
#include "wire/messages/peer_messages.h"

namespace gw::cli {
namespace {

constexpr std::chrono::nanoseconds kCheckpointEvery = std::chrono::seconds(5);  // the default on peers

}  // namespace

void add_grid_run_options(CommandTree& tree, Command& command, GridRunOptions& options) {
  command.add_number("--workers", options.workers, "Run as a job on peers, with at most N threads at a time", "N");
  command.add_option("--grid", options.grid, "Run the job in this grid (default: the first grid of this machine)", "NAME");
  command.add_number("--priority", options.priority, "Priority among your own jobs, 0 to 100: the highest goes first (default: 0)", "N");
  command.add_flag("--detach", options.detach, "Submit the job, print its id and exit; follow it with 'godwit job'");
  command.add_option("--after", options.after, "Begin when these jobs have ended well; fail if one of them fails", "JOB[,JOB...]");
  add_placing_options(command, options.placing);
  tree.add_setting(command, Key::socket);
}

Status check_grid_run_options(const RunOptions& run, const GridRunOptions& grid) {
  if (run.suspend_after_polls)
    return fail(Kind::unsupported, "--suspend-after-polls does not go with --workers or --tasks: it counts the polls of one machine");
  if (!run.image.empty() && grid.detach)
    return fail(Kind::invalid,
                "--image does not go with --detach: this command writes the file; use 'godwit job suspend JOB --image FILE'");
  if (run.compress && run.image.empty())
    return fail(Kind::invalid, "--compress needs --image with --workers: it is the image that shrinks");
  if (!run.suspend_after.empty() && grid.detach)
    return fail(Kind::invalid, "--suspend-after does not go with --detach: this command suspends the job, so it has to stay");
  if (!grid.grid.empty()) GW_TRY_VOID(wire::check_grid_name(grid.grid));
  if (grid.priority > wire::kMaxPriority) return fail(Kind::invalid, "--priority is 0 to {}", wire::kMaxPriority);
  if (grid.workers == 0u) return fail(Kind::invalid, "--workers is at least 1");
  return check_min_workers(grid.placing, grid.workers);
}

Status check_local_options(const GridRunOptions& grid, std::string_view needed) {
  if (!grid.grid.empty()) return fail(Kind::invalid, "--grid needs {}: without it the program runs on this machine alone", needed);
  if (grid.priority) return fail(Kind::invalid, "--priority needs {}: without it the program runs on this machine alone", needed);
  GW_TRY_VOID(check_no_placing_options(grid.placing, needed));
  if (grid.detach) return fail(Kind::invalid, "--detach needs {}: without it the program runs on this machine alone", needed);
  if (!grid.after.empty()) return fail(Kind::invalid, "--after needs {}: without it the program is no job", needed);
  return ok();
}

std::uint64_t grid_checkpoint_every(const Settings& settings, const wire::ModuleInfo& info) {
  const auto chosen = settings.checkpoint_every();
  if (settings.is_chosen(Key::checkpoint_every)) return chosen ? static_cast<std::uint64_t>(std::chrono::nanoseconds(*chosen).count()) : 0;
  return info.level == wire::Level::off ? 0 : static_cast<std::uint64_t>(kCheckpointEvery.count());
}

std::vector<node::Mount> to_mounts(const google::protobuf::RepeatedPtrField<wire::pb::JobSpec::Mount>& mounts) {
  std::vector<node::Mount> out;
  for (const wire::pb::JobSpec::Mount& mount : mounts) out.push_back({mount.host(), mount.guest()});
  return out;
}

Result<GridJob> make_grid_job(const RunOptions& run, const GridRunOptions& grid, wire::pb::JobSpec spec, std::uint64_t input_taken) {
  GW_TRY(node::InputFiles inputs, node::InputFiles::scan(to_mounts(spec.inputs())));
  spec.set_inputs_digest(node::digest_of_inputs(inputs.entries()));
  GridJob job{.module = {},
              .config = std::move(*spec.mutable_config()),
              .inputs = std::move(inputs),
              .outputs = to_mounts(spec.outputs()),
              .grid = grid.grid,
              .workers = grid.workers.value_or(1),
              .priority = grid.priority.value_or(0),
              .checkpoint_every_ns = spec.checkpoint_every_ns(),
              .limits = spec.limits()};
  GW_TRY(job.placing, to_placing(grid.placing));
  if (!run.stdin_file.empty() && grid.detach) {
    GW_TRY(job.stdin_file, add_stdin_file(run.stdin_file, job.inputs));
  } else if (!run.stdin_file.empty()) {
    spec.set_input_file(std::filesystem::absolute(run.stdin_file).lexically_normal().string());
  }
  if (!spec.input_file().empty()) {
    GW_TRY(job.input_file, open_stdin_file(spec.input_file()));
    (void)::lseek(job.input_file.get(), static_cast<off_t>(input_taken), SEEK_SET);  // fails for a pipe, which goes on by itself
  }
  if (!grid.detach) job.input = job.input_file ? job.input_file.get() : 0;
  for (const auto name : std::views::split(std::string_view(grid.after), ',')) job.after.emplace_back(name.begin(), name.end());
  if (!run.suspend_after.empty()) {
    GW_TRY(job.suspend_after, parse_option("--suspend-after", run.suspend_after));
  }
  if (!run.image.empty()) job.image_file = run.image;
  job.image_pages = run.compress ? wire::Storage::zstd : wire::Storage::raw;
  spec.clear_config();
  job.spec = std::move(spec);
  return job;
}

}  // namespace gw::cli
