#include <fmt/core.h>

#include <memory>

#include "cli/commands/job_parts.h"
#include "cli/console/grid_screen.h"
#include "cli/console/interrupts.h"
#include "cli/jobs/job_selector.h"
#include "job/tasks/task_ranges.h"
#include "wire/job_ticket.h"

namespace gw::cli {

using gateway::Client;

Result<FoundJob> find_in_list(Client& client, const std::string& word) {
  if (!wire::looks_like_ticket(word)) {
    GW_TRY(auto jobs, client.jobs());
    GW_TRY(const job::JobId id, find_job(word, jobs));
    return FoundJob{id, std::move(jobs)};
  }
  GW_TRY(const wire::JobTicket ticket, wire::parse_ticket(word));
  client.use_ticket(word);
  GW_TRY(auto jobs, client.jobs());
  GW_TRY(const job::JobId id, find_job(ticket.job.hash.hex(), jobs));
  return FoundJob{id, std::move(jobs)};
}

Result<job::JobId> find(Client& client, const std::string& word) {
  GW_TRY(const FoundJob found, find_in_list(client, word));
  return found.id;
}

Result<std::optional<node::JobEvent::Over>> follow_until_interrupted(const job::JobId& id, const JobFollower::Sinks& sinks,
                                                                     Invocation& invocation, const std::string& ticket) {
  GW_TRY(auto interrupts, Interrupts::make());
  JobFollower follower(invocation.settings.socket(), id, JobFollower::IfGone::wait, ticket);
  interrupts->watch({[&follower] { follower.detach(); }, [] {}});
  auto over = follower.follow(sinks);
  interrupts->stop();
  if (over && !*over) {
    invocation.console.clear_progress();
    invocation.console.note(fmt::format("detached from job {}, which continues", id.brief()));
  }
  return over;
}

namespace {

constexpr int kDetached = static_cast<int>(ExitCode::interrupted);

struct LogsOptions {
  std::string job;
  std::string tasks;
  bool output = false, errors = false;
  bool follow = false;
  bool keep_order = false;
  bool label = false;
};

// Standard output if nothing else is asked for.
Result<node::FrameQuery> query_of(const LogsOptions& options) {
  node::FrameQuery query{.order = node::FrameQuery::Order::task};
  if (!(options.output && options.errors)) query.stream = options.errors ? node::Stream::errors : node::Stream::output;
  if (!options.tasks.empty()) {
    GW_TRY(query.tasks, job::parse_tasks(options.tasks));
  }
  return query;
}

// Follows a job: in the order of arrival, or each task when those before it have ended.
Result<int> follow_logs(const LogsOptions& options, const job::JobId& id, node::FrameQuery query, GridScreen& screen,
                        Invocation& invocation, const std::string& ticket) {
  JobFollower::Sinks sinks;
  query.order = node::FrameQuery::Order::arrival;
  if (options.keep_order) {
    sinks.streams = {*query.stream};
    sinks.output = [&](node::Stream from, std::string_view bytes) { (void)screen.on_output(from, bytes); };  // SIGPIPE ends a filter
  } else {
    sinks.frame = [&](const wire::pb::OutputFrame& frame) { (void)screen.on_frame(frame); };
    sinks.frames = query;
  }
  const auto over = follow_until_interrupted(id, sinks, invocation, ticket);
  screen.finish();
  if (!over) return over.error();
  return *over ? 0 : kDetached;
}

// Output that is there, task by task: labelled if the user asks for it, or follows several tasks on a terminal.
Result<int> logs(const LogsOptions& options, Invocation& invocation) {
  if (options.keep_order && (!options.follow || !options.tasks.empty() || options.label || (options.output && options.errors)))
    return fail(Kind::invalid, "--keep-order goes with --follow alone and one stream: without --follow the order is that of the tasks");
  GW_TRY(const node::FrameQuery query, query_of(options));
  Client client(invocation.settings.socket());
  GW_TRY(const FoundJob found, find_in_list(client, options.job));
  const job::JobId id = found.id;
  const auto summary = std::ranges::find(found.jobs, id, &node::JobSummary::id);
  using Shown = GridScreen::Shown;
  const bool mixed = options.follow && !options.keep_order && summary->array > 1;
  const Shown shown = options.label ? Shown::labelled_lines
                      : mixed       ? GridScreen::usual_for_tasks(invocation.console, false)
                                    : Shown::unchanged;
  GridScreen screen(invocation.console, JobProgress(1), shown);
  if (options.follow) return follow_logs(options, id, query, screen, invocation, client.ticket());
  const Status whole = client.read_frames(id, query, Client::ReadUntil::now, [&](const wire::pb::OutputFrame& frame) {
    (void)screen.on_frame(frame);
    return Client::StreamControl::proceed;
  });
  screen.finish();
  if (!whole) return whole.error();
  return 0;
}

}  // namespace

void add_logs_commands(CommandTree& tree, Command& job) {
  Command& logs_command = tree.add(
      job, "logs",
      {.summary = "Print the output of a job or of some of its tasks",
       .details =
           "Prints what the tasks have written until now, task by task; no task is held back by one that still runs. With --follow "
           "prints output as it comes, in whole lines, with the number of the task before each line on a terminal, until the job "
           "ends; Ctrl-C detaches. 'godwit job cat' prints the bytes of tasks unchanged. JOB may be the ticket of a job on another machine "
           "('godwit job ticket').",
       .examples = {"godwit job logs last", "godwit job logs last --task 3-9 --stderr", "godwit job logs study --follow --label",
                    "godwit job logs 3f9a01 --follow --keep-order > result"}});
  auto options = std::make_shared<LogsOptions>();
  logs_command.add_argument("JOB", options->job, kJobText);
  logs_command.add_option("--task", options->tasks, "Print the output of these tasks only, for example 3-9,12", "TASKS");
  logs_command.add_flag("--stdout", options->output, "Print standard output; with --stderr too, both");
  logs_command.add_flag("--stderr", options->errors, "Print standard error instead of standard output");
  logs_command.add_flag("--follow", options->follow, "Wait for more output until the job ends");
  logs_command.add_flag("--keep-order", options->keep_order, "With --follow: print each task when those before it have ended");
  logs_command.add_flag("--label", options->label, "Begin each line with the number of its task");
  tree.add_setting(logs_command, Key::socket);
  logs_command.on_selected([options](Invocation& invocation) { return logs(*options, invocation); });

  Command& cat = tree.add(job, "cat",
                          {.summary = "Print the bytes that tasks of a job have written",
                           .details = "Prints standard output of the tasks one after the other, unchanged, as far as it is there.",
                           .examples = {"godwit job cat last --task 7 > picture.png", "godwit job cat study --task 0-4 --stderr"}});
  auto bytes = std::make_shared<LogsOptions>();
  cat.add_argument("JOB", bytes->job, kJobText);
  cat.add_option("--task", bytes->tasks, "Print the output of these tasks only, for example 3-9,12", "TASKS");
  cat.add_flag("--stderr", bytes->errors, "Print standard error instead of standard output");
  tree.add_setting(cat, Key::socket);
  cat.on_selected([bytes](Invocation& invocation) { return logs(*bytes, invocation); });
}

}  // namespace gw::cli
