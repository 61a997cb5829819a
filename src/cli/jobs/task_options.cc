#include "cli/jobs/task_options.h"

#include "job/authority/charter.h"
#include "job/authority/manifest.h"

namespace gw::cli {

void add_task_options(Command& command, TaskOptions& options) {
  command.add_option("--name", options.name, "Name the job; other commands take the name instead of its id", "NAME");
  command.add_option("--key", options.key,
                     "Submit the job once: with the same key, program, inputs and options again, follow the job that exists", "TEXT");
  command.add_number("--retries", options.retries, "Run a task that fails again, at most N times, on another peer if there is one", "N");
  command.add_number("--max-fails", options.max_fails, "Stop the job when more than N tasks have failed", "N");
  command.add_flag("--fail-fast", options.fail_fast, "Stop the job when a task has failed, as --max-fails 0");
  command.add_flag("--keep-order", options.keep_order, "Print output in the order of the tasks, each when those before it have ended");
  command.add_flag("--label", options.label, "Begin each line of output with the number of its task, as on a terminal");
}

Status check_task_options(const TaskOptions& options, Array array) {
  if (!options.name.empty()) GW_TRY_VOID(job::check_job_name(options.name));
  if (options.key.size() > job::Charter::kMaxKey) return fail(Kind::invalid, "--key has at most {} characters", job::Charter::kMaxKey);
  if (options.fail_fast && options.max_fails.value_or(0) > 0)
    return fail(Kind::invalid, "--fail-fast is --max-fails 0: leave out one of them");
  if (options.keep_order && options.label)
    return fail(Kind::invalid, "--label does not go with --keep-order: the output of a task is then in one piece; leave out one of them");
  const bool of_tasks = options.retries || options.max_fails || options.fail_fast || options.label;
  if (of_tasks && array == Array::no)
    return fail(Kind::invalid, "--retries, --max-fails, --fail-fast and --label need several tasks: give --tasks too");
  if (options.retries.value_or(0) > job::Manifest::kMaxRetries)
    return fail(Kind::invalid, "--retries is at most {}", job::Manifest::kMaxRetries);
  return ok();
}

Status check_no_task_options(const TaskOptions& options) {
  const bool some = !options.name.empty() || !options.key.empty() || options.retries || options.max_fails || options.fail_fast ||
                    options.keep_order || options.label;
  if (!some) return ok();
  return fail(Kind::invalid,
              "--name, --key, --retries, --max-fails, --fail-fast, --keep-order and --label need a job: give --workers or --tasks too");
}

void apply(const TaskOptions& options, GridJob& job) {
  job.name = options.name;
  job.key = options.key;
  job.retries = options.retries.value_or(0);
  if (options.max_fails || options.fail_fast) job.stop_after_failures = options.max_fails.value_or(0) + 1;
  job.keep_order = options.keep_order;
  job.label = options.label;
}

std::string seed_of_key(const std::string& key) {
  const Hash256 hash = sha256(as_bytes(fmt::format("godwit seed {}", key)));
  return {hash.bytes.begin(), hash.bytes.end()};
}

}  // namespace gw::cli
