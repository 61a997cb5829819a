#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>

#include "cli/commands/commands.h"
#include "cli/console/grid_screen.h"
#include "cli/console/interrupts.h"
#include "cli/console/job_tables.h"
#include "cli/console/quantity.h"
#include "cli/jobs/grid_run.h"
#include "cli/jobs/image_destination.h"
#include "cli/jobs/image_export.h"
#include "cli/jobs/job_follower.h"
#include "cli/settings/mount.h"
#include "gateway/view_json.h"
#include "node/jobs/job_files.h"
#include "os/files/io.h"
#include "wire/messages/output_file_frames.h"

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
  Json failures = Json::array();
  for (const node::JobPeerView& peer : view.peers)
    if (!peer.failure.empty()) failures.push_back({{"peer", peer.id.hash.hex()}, {"sentence", peer.failure}});
  if (text.empty())
    text = fmt::format("Job {} is {}: {} running, none waiting\n", id.brief(), gateway::name(view.summary.state), view.summary.running);
  for (const node::JobPeerView& peer : view.peers)
    if (!peer.failure.empty()) text += fmt::format("Peer {} said last of a worker: {}\n", peer.id.brief(), peer.failure);
  const std::string first = counts.empty() ? "ok" : std::string(entry_of(counts.begin()->first).name);
  invocation.console.print({"godwit.job.explain/1",
                            {{"id", id.hash.hex()}, {"state", gateway::name(view.summary.state)}, {"waits", waits}, {"failures", failures}},
                            text,
                            first});
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

struct FilesOptions {
  std::string job;
  std::vector<std::string> outputs;
};

// For a job whose command has gone: what it left is with the daemon until the job is forgotten.
Result<int> fetch_files(const FilesOptions& options, Invocation& invocation) {
  if (options.outputs.empty())
    return fail(Kind::invalid, "say where the files of the job go with --output HOST:GUEST, as for 'godwit run'");
  GW_TRY(const Mounts mounts, check_mounts({}, options.outputs));
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, options.job));
  GW_TRY(const node::JobView view, client.job(id));
  if (!node::is_over(view.summary.state))
    return fail(Kind::invalid, "job {} is {}: its files are complete when it has ended; wait with 'godwit job wait'", id.brief(),
                gateway::name(view.summary.state));
  std::vector<node::Mount> places;
  for (const Mount& mount : mounts.outputs) places.push_back({mount.host, mount.guest.substr(1)});
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

Result<int> cancel(const std::string& name, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const job::JobId id, find(client, name));
  GW_TRY_VOID(client.cancel(id));
  return tell_state(client, id, "godwit.job.cancel/1", invocation);
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
  std::vector<node::JobSummary> chosen;
  for (const std::string& name : names) {
    GW_TRY(const job::JobId id, find_job(name, jobs));
    const auto found = std::ranges::find(jobs, id, &node::JobSummary::id);
    if (std::ranges::find(chosen, id, &node::JobSummary::id) == chosen.end()) chosen.push_back(*found);
  }
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

void add_files(CommandTree& tree, Command& parent) {
  Command& command =
      tree.add(parent, "files",
               {.summary = "Fetch the output files of a job that has ended",
                .details = "For a job whose 'godwit run --output' was interrupted or detached. The daemon keeps what the "
                           "program left at GUEST until the job is forgotten.",
                .examples = {"godwit job files 3f9a01 --output result.png:/out.png", "godwit job files 3f9a01 --output frames"}});
  auto options = std::make_shared<FilesOptions>();
  command.add_argument("JOB", options->job, kJobText);
  command.add_repeatable("--output", options->outputs, "Move what the program left at GUEST, or at the same path, here", "HOST[:GUEST]");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return fetch_files(*options, invocation); });
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

void add_forget(CommandTree& tree, Command& parent) {
  Command& command = tree.add(parent, "forget",
                              {.summary = "Forget jobs that have ended, and delete their output",
                               .details = "Frees their space on the disk. Jobs are also forgotten by age and size: settings keep-jobs and "
                                          "keep-output. Cancel a running job first.",
                               .examples = {"godwit job forget 3f9a01", "godwit job forget 3f9a01 77b2c4"}});
  auto jobs = std::make_shared<std::vector<std::string>>();
  command.add_arguments("JOB", *jobs, kJobText);
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
                          {.summary = "List, show, wait for, suspend, cancel and forget jobs",
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
  add_files(tree, job);
  add_plain(tree, job, "cancel",
            {.summary = "Cancel a job",
             .details = "Keeps the output written so far.",
             .examples = {"godwit job cancel 3f9a01", "godwit job cancel 3f9a01 --socket /tmp/second"}},
            cancel);
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
