#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "cli/commands/commands.h"
#include "cli/commands/job_parts.h"
#include "cli/console/grid_screen.h"
#include "cli/console/interrupts.h"
#include "cli/console/job_tables.h"
#include "cli/console/quantity.h"
#include "cli/jobs/grid_run.h"
#include "cli/jobs/image_destination.h"
#include "cli/jobs/image_export.h"
#include "cli/jobs/job_follower.h"
#include "cli/jobs/job_selector.h"
#include "cli/settings/mount.h"
#include "gateway/view_json.h"
#include "node/jobs/job_files.h"
#include "os/files/io.h"
#include "wire/job_ticket.h"
#include "wire/messages/output_file_frames.h"

namespace gw::cli {
namespace {

using gateway::Client;

node::WallTime now() { return std::chrono::system_clock::now(); }

Result<int> list_jobs(const std::string& ticket, Invocation& invocation) {
  Client client(invocation.settings.socket());
  if (!ticket.empty()) GW_TRY_VOID(wire::parse_ticket(ticket));
  client.use_ticket(ticket);
  GW_TRY(const auto jobs, client.jobs());
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
  const std::string text = table_of(jobs, node.id, now(), invocation.console.out());
  invocation.console.print({"godwit.job.hosted/1", gateway::to_json(jobs), text, ids});
  return 0;
}

Result<int> print_ticket(const std::string& name, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, name));
  GW_TRY(const std::string ticket, client.ticket_of(id));
  invocation.console.print({"godwit.job.ticket/1", {{"id", id.hash.hex()}, {"ticket", ticket}}, ticket + "\n", ticket});
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

constexpr int kInterrupted = static_cast<int>(ExitCode::interrupted);

Result<int> wait(const std::string& name, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, name));
  GW_TRY(const node::JobView before, client.job(id));
  JobProgress progress(1);
  progress.start_from(before.summary);
  GridScreen screen(invocation.console, progress);
  // With -o json the end is the one result.
  const bool shows = invocation.console.format() != Format::json;
  const auto on_event = [&](const node::JobEvent& event) {
    if (shows) screen.on_event(event);
  };
  // Events before this one are in the summary. The end of a job that is over is one of them.
  const std::uint64_t first = node::is_over(before.summary.state) ? 0 : before.summary.next_event;
  GW_TRY(const auto over, follow_until_interrupted(id, {.event = on_event, .first_event = first}, invocation, client.ticket()));
  invocation.console.clear_progress();
  if (!over) return kInterrupted;
  GW_TRY(const node::JobView view, client.job(id));
  const std::string text = text_of(view, Threads::hidden, now(), invocation.console.out());
  invocation.console.print({"godwit.job.wait/1", gateway::to_json(view.summary), text, std::string(gateway::name(over->state))});
  return exit_code_of(*over);
}

struct FilesOptions {
  std::string job;
  std::vector<std::string> outputs;
  std::string into;
};

// Where the files of a job go.
Result<std::vector<node::Mount>> places_of(const FilesOptions& options) {
  if (options.outputs.empty() == options.into.empty())
    return fail(Kind::invalid, "say where the files of the job go: --into FOLDER, or --output HOST:GUEST as for 'godwit run'");
  std::vector<node::Mount> places;
  if (!options.into.empty()) {
    std::error_code failure;
    std::filesystem::create_directories(options.into, failure);
    if (failure) return fail(Kind::invalid, "cannot make the folder {}: {}", options.into, failure.message());
    places.push_back({options.into, ""});
    return places;
  }
  GW_TRY(const Mounts mounts, check_mounts({}, options.outputs));
  for (const Mount& mount : mounts.outputs) places.push_back({mount.host, mount.guest.substr(1)});
  return places;
}

// For a job whose command has gone: what it left is with the daemon until the job is forgotten.
Result<int> fetch_files(const FilesOptions& options, Invocation& invocation) {
  GW_TRY(std::vector<node::Mount> places, places_of(options));
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, options.job));
  GW_TRY(const node::JobView view, client.job(id));
  if (!node::is_over(view.summary.state))
    return fail(Kind::invalid, "job {} is {}: its files are complete when it has ended; wait with 'godwit job wait'", id.brief(),
                gateway::name(view.summary.state));
  node::OutputFiles files(std::move(places));
  wire::OutputFileReader reader;
  std::set<std::string> names;
  Status received = ok();
  const auto take = [&](const wire::pb::Effect::OutputFile& piece) {
    names.insert(piece.path());
    return files.take(piece);
  };
  GW_TRY_VOID(client.read_output(id, node::Stream::files, 0, Client::ReadUntil::now, [&](std::string_view bytes) {
    received = reader.add(bytes, take);
    return received ? Client::StreamControl::proceed : Client::StreamControl::stop;
  }));
  GW_TRY_VOID(received);
  if (!reader.complete())
    return fail(Kind::corrupt,
                "the daemon sent the output files of the job only in part: fetch them again with 'godwit job files {} --output HOST:GUEST'",
                id.brief());
  GW_TRY_VOID(files.place());
  Json list = Json::array();
  for (const std::string& name : names) list.push_back(name);
  const std::string text = fmt::format("{}\n", counted(names.size(), "file"));
  invocation.console.print({"godwit.job.files/1", {{"id", id.hash.hex()}, {"files", list}}, text, std::to_string(names.size())});
  return 0;
}

Result<int> tell_state(Client& client, const job::JobId& id, const char* schema, Invocation& invocation) {
  GW_TRY(const node::JobView view, client.job(id));
  const std::string_view state = gateway::name(view.summary.state);
  invocation.console.print(
      {schema, {{"id", id.hash.hex()}, {"state", state}}, fmt::format("Job {} is {}\n", id.brief(), state), std::string(state)});
  return 0;
}

Result<int> cancel(const std::vector<std::string>& names, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const auto jobs, client.jobs());
  GW_TRY(const auto chosen, find_jobs(names, jobs));
  for (const node::JobSummary& job : chosen) {
    GW_TRY_VOID(client.cancel(job.id));
    GW_TRY_VOID(tell_state(client, job.id, "godwit.job.cancel/1", invocation));
  }
  return 0;
}

// Waits until the job is suspended, however long its threads take to save their state: large images take their time.
Status wait_until_suspended(Client& client, const job::JobId& id, Invocation& invocation) {
  Status known = ok();
  const auto take = [&](const node::JobEvent& event) {
    const bool stops =
        std::holds_alternative<node::JobEvent::Suspended>(event.kind) || std::holds_alternative<node::JobEvent::Over>(event.kind);
    if (!stops) return Client::StreamControl::proceed;
    // The event may be one of an earlier suspension.
    const auto view = Client(invocation.settings.socket()).job(id);
    if (!view) known = view.error();
    return !view || view->summary.state != node::JobState::running ? Client::StreamControl::stop : Client::StreamControl::proceed;
  };
  GW_TRY_VOID(client.watch(id, 0, take));
  return known;
}

struct SuspendOptions {
  std::string job;
  std::string image;
  bool compress = false;
};

Result<int> tell_exported(const SuspendOptions& options, Client& client, const job::JobId& id, Invocation& invocation) {
  GW_TRY(const ImageDestination image, ImageDestination::make(options.image, options.image));
  const wire::Storage pages = options.compress ? wire::Storage::zstd : wire::Storage::raw;
  GW_TRY(const std::uint64_t bytes, export_image(client, id, std::nullopt, pages, image.temporary()));
  GW_TRY(const std::filesystem::path file, image.rename_temporary());
  invocation.console.print({"godwit.job.suspend/1",
                            {{"id", id.hash.hex()}, {"state", "suspended"}, {"image", file.string()}, {"image_bytes", bytes}},
                            fmt::format("Job {0} is suspended, and its state is in {1} ({2}). Continue it with 'godwit resume {1}', and "
                                        "end it here with 'godwit job cancel {0}'\n",
                                        id.brief(), file.string(), human_bytes(bytes)),
                            file.string()});
  return 0;
}

Result<int> suspend(const SuspendOptions& options, Invocation& invocation) {
  if (options.compress && options.image.empty()) return fail(Kind::invalid, "--compress needs --image: it is the image that shrinks");
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, options.job));
  GW_TRY(const node::JobView before, client.job(id));
  const bool exports_only = !options.image.empty() && before.summary.state == node::JobState::suspended;
  if (!exports_only) {
    // A daemon that has not answered in time goes on with it.
    const Status asked = client.suspend(id);
    if (!asked && asked.error().kind != Kind::timeout) return asked.error();
    if (!asked) GW_TRY_VOID(wait_until_suspended(client, id, invocation));
  }
  return options.image.empty() ? tell_state(client, id, "godwit.job.suspend/1", invocation)
                               : tell_exported(options, client, id, invocation);
}

Result<int> resume(const std::string& name, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, name));
  GW_TRY_VOID(client.resume(id));
  return tell_state(client, id, "godwit.job.resume/1", invocation);
}

struct ForgetResult {
  Json ids = Json::array();
  std::uint64_t bytes = 0;
};

Result<ForgetResult> forget_all(Client& client, const std::vector<node::JobSummary>& jobs) {
  ForgetResult result;
  for (const node::JobSummary& job : jobs) {
    GW_TRY_VOID(client.forget(job.id));
    result.ids.push_back(job.id.hash.hex());
    result.bytes += job.stored_bytes;
  }
  return result;
}

void tell_forgotten(const ForgetResult& result, const std::string& schema, Invocation& invocation) {
  invocation.console.print({schema,
                            {{"ids", result.ids}, {"bytes", result.bytes}},
                            fmt::format("Forgot {}, {} of output\n", counted(result.ids.size(), "job"), human_bytes(result.bytes)),
                            std::to_string(result.ids.size())});
}

Result<int> forget(const std::vector<std::string>& names, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const auto jobs, client.jobs());
  GW_TRY(const std::vector<node::JobSummary> chosen, find_jobs(names, jobs));
  GW_TRY(const ForgetResult result, forget_all(client, chosen));
  tell_forgotten(result, "godwit.job.forget/1", invocation);
  return 0;
}

struct PruneOptions {
  std::string older_than;
  bool all = false;
};

Result<int> prune(const PruneOptions& options, Invocation& invocation) {
  if (options.all == !options.older_than.empty())
    return fail(Kind::invalid, "say which jobs to forget: --older-than TIME, or --all for every job that has ended");
  std::chrono::milliseconds age{0};
  if (!options.all) {
    GW_TRY(age, parse_duration(options.older_than));
  }
  Client client(invocation.settings.socket());
  GW_TRY(std::vector<node::JobSummary> jobs, client.jobs());
  const node::WallTime before = now() - age;
  std::erase_if(jobs, [&](const node::JobSummary& job) {
    return !is_over(job.state) || (!options.all && (!job.ended_at || *job.ended_at > before));
  });
  GW_TRY(const ForgetResult result, forget_all(client, jobs));
  tell_forgotten(result, "godwit.job.prune/1", invocation);
  return 0;
}

void add_files(CommandTree& tree, Command& parent) {
  Command& command =
      tree.add(parent, "files",
               {.summary = "Fetch the output files of a job that has ended",
                .details = "For a job whose 'godwit run --output' was interrupted or detached. The daemon keeps what the "
                           "program left at GUEST until the job is forgotten.",
                .examples = {"godwit job files 3f9a01 --into results", "godwit job files 3f9a01 --output result.png:/out.png"}});
  auto options = std::make_shared<FilesOptions>();
  command.add_argument("JOB", options->job, kJobText);
  command.add_repeatable("--output", options->outputs, "Move what the program left at GUEST, or at the same path, here", "HOST[:GUEST]");
  command.add_option("--into", options->into, "Move all files into this folder, under their paths in the program", "FOLDER");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return fetch_files(*options, invocation); });
}

void add_job_show(CommandTree& tree, Command& parent) {
  Command& command = tree.add(parent, "show",
                              {.summary = "Show a job: progress, peers and failures",
                               .details = "JOB may be the ticket of a job on another machine ('godwit job ticket').",
                               .examples = {"godwit job show 3f9a01", "godwit job show 3f9a01 --threads"}});
  auto options = std::make_shared<ShowOptions>();
  command.add_argument("JOB", options->job, kJobText);
  command.add_flag("--threads", options->threads, "Also list every thread");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return show(*options, invocation); });
}

void add_suspend(CommandTree& tree, Command& parent) {
  Command& command = tree.add(
      parent, "suspend",
      {.summary = "Suspend a job",
       .details = "Every thread saves its state and gives its slot back. The job stays suspended, also after a restart of the daemon, "
                  "until 'godwit job resume'. With --image the state of a job of one thread is also written to a file, which 'godwit "
                  "resume' continues on any machine.",
       .examples = {"godwit job suspend 3f9a01", "godwit job suspend 3f9a01 --image nbody.gwi", "godwit job suspend 3f9a01 -o json"}});
  auto options = std::make_shared<SuspendOptions>();
  command.add_argument("JOB", options->job, kJobText);
  command.add_option("--image", options->image, "Also write the suspended program to this file", "FILE");
  command.add_flag("--compress", options->compress, "Compress the image (zstd)");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return suspend(*options, invocation); });
}

void add_cancel(CommandTree& tree, Command& parent) {
  Command& command = tree.add(parent, "cancel",
                              {.summary = "Cancel jobs",
                               .details = "Keeps the output written so far. With -o json prints one object for each job.",
                               .examples = {"godwit job cancel last", "godwit job cancel 3f9a01 study", "godwit job cancel last-2..last"}});
  auto jobs = std::make_shared<std::vector<std::string>>();
  command.add_arguments("JOB", *jobs, kJobsText);
  tree.add_setting(command, Key::socket);
  command.on_selected([jobs](Invocation& invocation) { return cancel(*jobs, invocation); });
}

void add_forget(CommandTree& tree, Command& parent) {
  Command& command = tree.add(parent, "forget",
                              {.summary = "Forget jobs that have ended, and delete their output",
                               .details = "Frees their space on the disk. Jobs are also forgotten by age and size: settings keep-jobs and "
                                          "keep-output. Cancel a running job first.",
                               .examples = {"godwit job forget 3f9a01", "godwit job forget last-5..last-1"}});
  auto jobs = std::make_shared<std::vector<std::string>>();
  command.add_arguments("JOB", *jobs, kJobsText);
  tree.add_setting(command, Key::socket);
  command.on_selected([jobs](Invocation& invocation) { return forget(*jobs, invocation); });
}

void add_prune(CommandTree& tree, Command& parent) {
  Command& command = tree.add(parent, "prune",
                              {.summary = "Forget all jobs that have ended, or those that ended some time ago",
                               .details = "Deletes their output and frees its space on the disk. Works on a full disk.",
                               .examples = {"godwit job prune --older-than 7d", "godwit job prune --all"}});
  auto options = std::make_shared<PruneOptions>();
  command.add_option("--older-than", options->older_than, "Forget jobs that ended longer ago than this", "TIME");
  command.add_flag("--all", options->all, "Forget every job that has ended");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return prune(*options, invocation); });
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
                          {.summary = "List, show, watch, rerun, suspend, cancel and forget jobs",
                           .details = "Submit a job with 'godwit run --workers N'.",
                           .examples = {"godwit job list", "godwit job wait 3f9a01"}});
  job.require_subcommand();
  Command& list_command = tree.add(
      job, "list",
      {.summary = "List jobs, newest first",
       .details = "Lists the jobs submitted to this machine. With --hosted, lists the jobs that hold slots of this machine and the "
                  "peers they belong to. With --ticket, lists the job of another machine that made the ticket.",
       .examples = {"godwit job list", "godwit job list --hosted", "godwit job list --ticket $TICKET", "godwit job list -o json"}});
  auto hosted = std::make_shared<bool>(false);
  auto ticket = std::make_shared<std::string>();
  list_command.add_flag("--hosted", *hosted, "List the jobs that run on this machine, and for which peer");
  list_command.add_option("--ticket", *ticket, "List the job of this ticket, which another machine has made", "TICKET");
  tree.add_setting(list_command, Key::socket);
  list_command.on_selected(
      [hosted, ticket](Invocation& invocation) { return *hosted ? list_hosted(invocation) : list_jobs(*ticket, invocation); });
  add_job_show(tree, job);
  add_explain_command(tree, job);
  add_plain(tree, job, "wait",
            {.summary = "Wait until a job has ended",
             .details = "Exits with the exit code of the job. JOB may be the ticket of a job on another machine ('godwit job ticket').",
             .examples = {"godwit job wait 3f9a01", "godwit job wait 3f9a01 -o json"}},
            wait);
  add_plain(
      tree, job, "ticket",
      {.summary = "Print the ticket of a job, with which other machines read it",
       .details = "Prints a line of text. On any machine whose daemon can reach this one, 'godwit job list --ticket', 'show', 'logs', "
                  "'cat', 'wait' and 'tasks' take it in the place of a job. Everybody who has the ticket can read the state and the "
                  "output of the job, as long as this machine has the job, and can change nothing. Give it only to people who may.",
       .examples = {"godwit job ticket last", "godwit job logs $TICKET --follow", "godwit job ticket 3f9a01 -o json"}},
      print_ticket);
  add_watch_command(tree, job);
  add_logs_commands(tree, job);
  add_rerun_command(tree, job);
  add_files(tree, job);
  add_cancel(tree, job);
  add_suspend(tree, job);
  add_plain(tree, job, "resume",
            {.summary = "Continue a suspended job",
             .details = "Its threads continue where they were suspended, on whichever peers have free slots.",
             .examples = {"godwit job resume 3f9a01", "godwit job resume 3f9a01 -o json"}},
            resume);
  add_forget(tree, job);
  add_prune(tree, job);
}

}  // namespace gw::cli
