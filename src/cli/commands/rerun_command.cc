#include <fmt/core.h>

#include <memory>

#include "cli/commands/job_parts.h"
#include "cli/jobs/grid_run.h"
#include "cli/jobs/job_selector.h"
#include "cli/jobs/task_options.h"
#include "cli/settings/submitter_key.h"
#include "gateway/view_json.h"
#include "job/authority/manifest.h"
#include "job/tasks/task_ranges.h"

namespace gw::cli {
namespace {

using gateway::Client;

struct RerunOptions {
  std::string job;
  std::string filter;
  std::string tasks;
  std::string grid;
  bool detach = false;
  TaskOptions task;
};

// All tasks that the filter lets through, page by page.
Result<job::TaskSet> tasks_in(Client& client, const job::JobId& id, job::TaskFilter filter) {
  constexpr std::size_t kPage = 1000;
  job::TaskSet tasks;
  std::optional<std::uint32_t> from = 0;
  while (from) {
    GW_TRY(const job::TaskPage page, client.tasks(id, {.filter = filter, .from = *from, .limit = kPage}));
    for (const node::ThreadView& task : page.tasks) tasks.add(*task.task);
    from = page.next;
  }
  return tasks;
}

Result<job::TaskSet> chosen_tasks(const RerunOptions& options, Client& client, const job::JobId& id) {
  GW_TRY(job::TaskSet chosen, tasks_in(client, id, options.filter.empty() ? job::TaskFilter::all : *gateway::task_filter(options.filter)));
  if (options.tasks.empty()) return chosen;
  GW_TRY(const job::TaskSet named, job::parse_tasks(options.tasks));
  job::TaskSet both;
  for (const job::TaskSpan& span : named.spans())
    for (const job::TaskSpan& part : chosen.within(span)) both.add(part);
  return both;
}

// The same manifest with these tasks only, and with the policy that the options name.
wire::pb::Manifest with_tasks(wire::pb::Manifest manifest, const job::TaskSet& tasks, const TaskOptions& options) {
  manifest.mutable_array()->clear_only();
  for (const job::TaskSpan& span : tasks.spans()) {
    wire::pb::TaskRange& range = *manifest.mutable_array()->add_only();
    range.set_first(span.first);
    range.set_count(span.count);
  }
  wire::pb::Manifest::Policy& policy = *manifest.mutable_policy();
  if (!options.name.empty()) manifest.set_name(options.name);
  if (options.retries) policy.set_retries(*options.retries);
  if (options.max_fails || options.fail_fast) policy.set_stop_after_failures(options.max_fails.value_or(0) + 1);
  return manifest;
}

// The pieces of the input files that the rows of the job name: home keeps them by this list.
Result<std::string> row_inputs_of(Client& client, const wire::pb::Manifest& manifest) {
  std::string pieces;
  for (const wire::pb::Manifest::TaskArray::Segment& segment : manifest.array().segments()) {
    GW_TRY(const std::string bytes, client.load_blob(wire::hash_of(segment.hash())));
    wire::pb::TaskRows rows;
    if (!rows.ParseFromString(bytes)) return fail(Kind::corrupt, "the values of the tasks cannot be read");
    for (const wire::pb::TaskRow& row : rows.rows()) {
      for (const wire::pb::InputEntry& entry : row.inputs())
        for (const std::string& piece : entry.chunks()) pieces += piece;
      for (const std::string& piece : row.standard_input().chunks()) pieces += piece;
    }
  }
  return pieces;
}

Error explained(const Error& error, const job::JobId& id) {
  if (error.kind != Kind::not_found) return error;
  return fail(Kind::not_found, "the program or an input of job {} is not on this machine any more ({}): run its command again with --tasks",
              id.brief(), error.detail);
}

Result<int> rerun(const RerunOptions& options, Invocation& invocation) {
  if (options.filter.empty() && options.tasks.empty())
    return fail(Kind::invalid, "say which tasks run again: --filter failed, or --task 3-9");
  GW_TRY_VOID(check_task_options(options.task, Array::yes));
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, options.job));
  GW_TRY(const std::string bytes, client.manifest(id));
  wire::pb::Manifest manifest;
  if (!manifest.ParseFromString(bytes)) return fail(Kind::corrupt, "the daemon's answer cannot be understood: it is no manifest");
  if (!manifest.has_array()) return fail(Kind::invalid, "job {} has no tasks: run its command again", id.brief());
  GW_TRY(const job::TaskSet tasks, chosen_tasks(options, client, id));
  if (tasks.empty()) return fail(Kind::not_found, "job {} has no such tasks: list them with 'godwit task list {}'", id.brief(), id.brief());
  manifest = with_tasks(std::move(manifest), tasks, options.task);
  GW_TRY(const SigningKey key, load_or_make_submitter_key(usual_submitter_key()));
  const Bytes encoded = job::Manifest::encode(manifest);
  GW_TRY_VOID(job::Manifest::check(encoded));
  wire::pb::JobSubmission submission;
  submission.set_manifest(std::string(as_text(encoded)));
  auto inputs = row_inputs_of(client, manifest);
  if (!inputs) return explained(inputs.error(), id);
  submission.set_row_inputs(*std::move(inputs));
  const auto submitted = submit(client, std::move(submission), options.grid, options.task.key, key);
  if (!submitted) return explained(submitted.error(), id);
  GridJob job{.selected = static_cast<std::uint32_t>(tasks.size())};
  job.keep_order = options.task.keep_order;
  job.label = options.task.label;
  if (!options.detach)
    invocation.console.note(fmt::format("job {} runs {} of job {} again, with the program and files of then", submitted->brief(),
                                        tasks.size() == 1 ? "1 task" : fmt::format("{} tasks", tasks.size()), id.brief()));
  return follow_on_grid(*submitted, job, options.detach ? Attachment::detached : Attachment::attached, invocation);
}

}  // namespace

void add_rerun_command(CommandTree& tree, Command& job) {
  Command& command = tree.add(
      job, "rerun",
      {.summary = "Run tasks of a job again, as a new job",
       .details = "Submits a job with the same program, inputs and options that has only these tasks, with the same numbers. Inputs are "
                  "those that were submitted: files that have changed since need a new job. Its output is followed like that of "
                  "'godwit run'.",
       .examples = {"godwit job rerun last --filter failed", "godwit job rerun study --task 3-9,12 --detach",
                    "godwit job rerun last --filter failed --retries 2 --name second-try"}});
  auto options = std::make_shared<RerunOptions>();
  command.add_argument("JOB", options->job, kJobText);
  command.add_choice("--filter", options->filter, "Run the tasks in this state again", "FILTER");
  command.add_option("--task", options->tasks, "Run these tasks again, for example 3-9,12", "TASKS");
  command.add_option("--grid", options->grid, "Run the job in this grid (default: the first grid of this machine)", "NAME");
  command.add_flag("--detach", options->detach, "Submit the job, print its id and exit");
  add_task_options(command, options->task);
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return rerun(*options, invocation); });
}

}  // namespace gw::cli
