#pragma once

#include "cli/command_tree.h"
#include "cli/jobs/grid_job.h"

namespace gw::cli {

enum class Attachment : std::uint8_t { attached, detached };

// Carries out `run --workers`: submits the job to the daemon, or to one that is started for it and ends with it, shows its output and
// progress, and returns its exit code. Ctrl-C detaches from a daemon's job, which goes on, and ends one of our own.
// With Attachment::detached it prints the job's id when the daemon has accepted it, and is done.
Result<int> run_on_grid(const GridJob& job, Attachment attachment, Invocation& invocation);

// The same for a job that a daemon has: shows its output from the beginning. Of `job` only what concerns its files and its output counts.
Result<int> follow_on_grid(const job::JobId& id, const GridJob& job, Attachment attachment, Invocation& invocation);

// The exit code of a command whose job ended like this.
int exit_code_of(const node::JobEvent::Over& over);

}  // namespace gw::cli
