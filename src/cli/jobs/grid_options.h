#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_tree.h"
#include "cli/jobs/grid_job.h"
#include "cli/jobs/placing_options.h"
#include "cli/settings/run_options.h"
#include "wire/job_spec.pb.h"
#include "wire/wasm/module_info.h"

namespace gw::cli {

// Options of `run` and `resume` that make a job of the program.
struct GridRunOptions {
  std::optional<std::uint32_t> workers;
  std::string grid;
  std::optional<std::uint32_t> priority;
  PlacingOptions placing;
  bool detach = false;
  std::string after;  // jobs, separated by commas
};

void add_grid_run_options(CommandTree& tree, Command& command, GridRunOptions& options);

// Options that do not go together on peers.
Status check_grid_run_options(const RunOptions& run, const GridRunOptions& grid);
// Options that mean a job, without what makes one (`needed`).
Status check_local_options(const GridRunOptions& grid, std::string_view needed);

// The interval chosen by the user, else the default on peers; 0: never, because the program cannot be saved.
std::uint64_t grid_checkpoint_every(const Settings& settings, const wire::ModuleInfo& info);

std::vector<node::Mount> to_mounts(const google::protobuf::RepeatedPtrField<wire::pb::JobSpec::Mount>& mounts);

// The job, without its program: files, standard input (from byte `input_taken` of --stdin on), limits, what is done at its suspension.
Result<GridJob> make_grid_job(const RunOptions& run, const GridRunOptions& grid, wire::pb::JobSpec spec, std::uint64_t input_taken = 0);

}  // namespace gw::cli
