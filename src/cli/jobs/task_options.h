#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_tree.h"
#include "cli/jobs/grid_job.h"

namespace gw::cli {

// Options of `run` about the name of a job, its failed tasks, and how its output is shown.
struct TaskOptions {
  std::string name, key;
  std::optional<std::uint32_t> retries, max_fails;
  bool fail_fast = false;
  bool keep_order = false;
  bool label = false;
};

void add_task_options(Command& command, TaskOptions& options);
// `array`: the job has several tasks. Kind::invalid: options that do not go together, or not with such a job.
enum class Array : std::uint8_t { no, yes };
Status check_task_options(const TaskOptions& options, Array array);
// Options that need a job, on a command that runs none.
Status check_no_task_options(const TaskOptions& options);
void apply(const TaskOptions& options, GridJob& job);

// The random seed of a job with a key: the same submission again has to be the same job.
std::string seed_of_key(const std::string& key);

}  // namespace gw::cli
