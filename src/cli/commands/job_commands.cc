#include <fmt/core.h>

#include <map>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/console/grid_screen.h"
#include "cli/console/interrupts.h"
#include "cli/console/job_tables.h"
#include "cli/jobs/grid_run.h"
#include "cli/jobs/job_follower.h"
#include "gateway/view_json.h"
#include "os/io.h"

namespace gw::cli {
namespace {

using gateway::Client;

node::WallTime now() { return std::chrono::system_clock::now(); }

Result<job::JobId> find(Client& client, const std::string& name) {
  GW_TRY(const auto jobs, client.jobs());
  return find_job(name, jobs);
}

Result<int> list_jobs(Invocation& invocation) {
  GW_TRY(const auto jobs, Client(invocation.settings.socket()).jobs());
  std::string ids;
  for (const node::JobSummary& job : jobs) ids += (ids.empty() ? "" : "\n") + job.id.hash.hex();
  invocation.console.print({"godwit.job.list/1", gateway::to_json(jobs), table_of(jobs, now(), invocation.console.out()), ids});
  return 0;
}

Result<int> list_hosted(Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const node::NodeView node, client.node());
  GW_TRY(const auto jobs, client.hosted());
  std::string ids;
  for (const node::HostedJobView& job : jobs) ids += (ids.empty() ? "" : "\n") + job.id.hash.hex();
  const std::string text = table_of(jobs, node.id, invocation.console.out());
  invocation.console.print({"godwit.job.hosted/1", gateway::to_json(jobs), text, ids});
  return 0;
}

struct ShowOptions {
  std::string job;
  bool threads = false;
};

Result<int> show(const ShowOptions& options, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, options.job));
  GW_TRY(const node::JobView view, client.job(id));
  const std::string text = text_of(view, options.threads ? Threads::shown : Threads::hidden, now(), invocation.console.out());
  invocation.console.print({"godwit.job.show/1", gateway::to_json(view), text, std::string(gateway::name(view.summary.state))});
  return 0;
}

Result<int> explain(const std::string& name, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, name));
  GW_TRY(const node::JobView view, client.job(id));
  std::map<Reason, std::uint64_t> counts;
  for (const node::ThreadView& thread : view.threads)
    if (thread.reason != Reason::ok) ++counts[thread.reason];
  Json waits = Json::array();
  for (const auto& [reason, threads] : counts) {
    const ReasonEntry& entry = entry_of(reason);
    waits.push_back({{"reason", entry.name}, {"threads", threads}, {"sentence", entry.sentence}, {"fix", entry.fix}});
  }
  std::string text = waits_of(view, invocation.console.out());
  if (text.empty())
    text = fmt::format("Job {} is {}: {} running, none waiting\n", id.brief(), gateway::name(view.summary.state), view.summary.running);
  const std::string first = counts.empty() ? "ok" : std::string(entry_of(counts.begin()->first).name);
  invocation.console.print(
      {"godwit.job.explain/1", {{"id", id.hash.hex()}, {"state", gateway::name(view.summary.state)}, {"waits", waits}}, text, first});
  return 0;
}

// Follows the job until its end, or until Ctrl-C, which does not affect the job.
Result<std::optional<node::JobEvent::Over>> follow(const job::JobId& id, const JobFollower::Sinks& sinks, Invocation& invocation) {
  GW_TRY(auto interrupts, Interrupts::make());
  JobFollower follower(invocation.settings.socket(), id, JobFollower::IfGone::wait);
  interrupts->watch({[&follower] { follower.detach(); }, [] {}});
  auto over = follower.follow(sinks);
  interrupts->stop();
  return over;
}

constexpr int kInterrupted = static_cast<int>(ExitCode::interrupted);

Result<int> wait(const std::string& name, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, name));
  GridScreen screen(invocation.console, JobProgress(1));
  // With -o json the end is the one result.
  const bool shows = invocation.console.format() != Format::json;
  const auto on_event = [&](const node::JobEvent& event) {
    if (shows) screen.on_event(event);
  };
  GW_TRY(const auto over, follow(id, {.event = on_event}, invocation));
  invocation.console.clear_progress();
  if (!over) return kInterrupted;
  GW_TRY(const node::JobView view, client.job(id));
  const std::string text = text_of(view, Threads::hidden, now(), invocation.console.out());
  invocation.console.print({"godwit.job.wait/1", gateway::to_json(view.summary), text, std::string(gateway::name(over->state))});
  return exit_code_of(*over);
}

struct LogsOptions {
  std::string job;
  bool errors = false;
  bool follow = false;
};

Result<int> logs(const LogsOptions& options, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, options.job));
  const node::Stream stream = options.errors ? node::Stream::errors : node::Stream::output;
  GridScreen screen(invocation.console, JobProgress(1));
  const auto take = [&](node::Stream from, std::string_view bytes) { (void)screen.on_output(from, bytes); };  // SIGPIPE ends a filter
  if (options.follow) {
    const auto over = follow(id, {.streams = {stream}, .output = take}, invocation);
    screen.finish();
    if (!over) return over.error();
    return *over ? 0 : kInterrupted;
  }
  const Status whole = client.read_output(id, stream, 0, Client::ReadUntil::now, [&](std::string_view bytes) {
    take(stream, bytes);
    return Client::StreamControl::proceed;
  });
  screen.finish();
  if (!whole) return whole.error();
  return 0;
}

Result<int> cancel(const std::string& name, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, name));
  GW_TRY_VOID(client.cancel(id));
  GW_TRY(const node::JobView view, client.job(id));
  const std::string_view state = gateway::name(view.summary.state);
  invocation.console.print({"godwit.job.cancel/1",
                            {{"id", id.hash.hex()}, {"state", state}},
                            fmt::format("Job {} is {}\n", id.brief(), state),
                            std::string(state)});
  return 0;
}

constexpr const char* kJobText = "Job id or its first digits";

void add_logs(CommandTree& tree, Command& parent) {
  Command& command =
      tree.add(parent, "logs",
               {.summary = "Print the output of a job",
                .details = "Prints the output in the order of the tasks, as far as it is final: what has been printed never changes.",
                .examples = {"godwit job logs 3f9a01", "godwit job logs 3f9a01 --follow > result"}});
  auto options = std::make_shared<LogsOptions>();
  command.add_argument("JOB", options->job, kJobText);
  command.add_flag("--stderr", options->errors, "Print standard error instead of standard output");
  command.add_flag("--follow", options->follow, "Wait for more output until the job ends");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return logs(*options, invocation); });
}

void add_job_show(CommandTree& tree, Command& parent) {
  Command& command = tree.add(parent, "show",
                              {.summary = "Show a job: progress, peers and failures",
                               .details = "",
                               .examples = {"godwit job show 3f9a01", "godwit job show 3f9a01 --threads"}});
  auto options = std::make_shared<ShowOptions>();
  command.add_argument("JOB", options->job, kJobText);
  command.add_flag("--threads", options->threads, "Also list every thread");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return show(*options, invocation); });
}

// Adds a command whose only argument is a job.
void add_plain(CommandTree& tree, Command& parent, const std::string& name, Command::Text text,
               Result<int> (*action)(const std::string&, Invocation&)) {
  Command& command = tree.add(parent, name, std::move(text));
  auto job = std::make_shared<std::string>();
  command.add_argument("JOB", *job, kJobText);
  tree.add_setting(command, Key::socket);
  command.on_selected([job, action](Invocation& invocation) { return action(*job, invocation); });
}

}  // namespace

void add_job_commands(CommandTree& tree) {
  Command& job = tree.add(tree.root(), "job",
                          {.summary = "List, show, wait for and cancel jobs",
                           .details = "Submit a job with 'godwit run --workers N'.",
                           .examples = {"godwit job list", "godwit job wait 3f9a01"}});
  job.require_subcommand();
  Command& list_command = tree.add(
      job, "list",
      {.summary = "List jobs, newest first",
       .details = "Lists the jobs submitted to this machine. With --hosted, lists the jobs that hold slots of this machine and the "
                  "peers they belong to.",
       .examples = {"godwit job list", "godwit job list --hosted", "godwit job list -o json"}});
  auto hosted = std::make_shared<bool>(false);
  list_command.add_flag("--hosted", *hosted, "List the jobs that run on this machine, and for which peer");
  tree.add_setting(list_command, Key::socket);
  list_command.on_selected([hosted](Invocation& invocation) { return *hosted ? list_hosted(invocation) : list_jobs(invocation); });
  add_job_show(tree, job);
  add_plain(tree, job, "explain",
            {.summary = "Explain why threads of a job wait",
             .details = "Prints each reason with its name (docs/reasons.md), what it means, and what to do.",
             .examples = {"godwit job explain 3f9a01", "godwit job explain 3f9a01 -o json"}},
            explain);
  add_plain(tree, job, "wait",
            {.summary = "Wait until a job has ended",
             .details = "Exits with the exit code of the job.",
             .examples = {"godwit job wait 3f9a01", "godwit job wait 3f9a01 -o json"}},
            wait);
  add_logs(tree, job);
  add_plain(tree, job, "cancel",
            {.summary = "Cancel a job",
             .details = "Keeps the output written so far.",
             .examples = {"godwit job cancel 3f9a01", "godwit job cancel 3f9a01 --socket /tmp/second"}},
            cancel);
}

}  // namespace gw::cli
