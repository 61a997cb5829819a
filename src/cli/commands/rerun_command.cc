#include <fmt/core.h>

#include <map>
#include <memory>

#include "cli/commands/job_parts.h"
#include "cli/jobs/grid_run.h"
#include "cli/jobs/job_selector.h"
#include "cli/jobs/task_options.h"
#include "cli/settings/submitter_key.h"
#include "gateway/view_json.h"
#include "job/authority/manifest.h"
#include "job/tasks/file_list.h"
#include "job/tasks/task_ranges.h"
#include "wire/messages/output_file_frames.h"
#include "wire/messages/worker_frames.h"

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

// Tasks that were skipped because of those that failed go with them.
Result<job::TaskSet> chosen_tasks(const RerunOptions& options, Client& client, const job::JobId& id, bool is_graph) {
  const job::TaskFilter filter = options.filter.empty() ? job::TaskFilter::all : *gateway::task_filter(options.filter);
  GW_TRY(job::TaskSet chosen, tasks_in(client, id, filter));
  if (is_graph && filter == job::TaskFilter::failed) {
    GW_TRY(const job::TaskSet skipped, tasks_in(client, id, job::TaskFilter::skipped));
    for (const job::TaskSpan& span : skipped.spans()) chosen.add(span);
  }
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

// Of a graph: files of tasks that do not run again become ordinary inputs in the rows of those that do. Home has them in the output of the
// job; each piece is handed to home again, as an input.
class StoredFiles {
 public:
  // A client does one thing at a time, and pieces are stored while the files are read: so there are two.
  StoredFiles(Client& reader, Client& writer, const job::JobId& id, const job::TaskSet& tasks)
      : reader_(reader), writer_(writer), id_(id), tasks_(tasks) {}

  Status put_into(wire::pb::Manifest& manifest) {
    std::vector<wire::pb::TaskRows> segments;
    std::uint32_t task = 0;
    for (const wire::pb::Manifest::TaskArray::Segment& segment : manifest.array().segments()) {
      GW_TRY(const std::string bytes, reader_.load_blob(wire::hash_of(segment.hash())));
      if (!segments.emplace_back().ParseFromString(bytes)) return fail(Kind::corrupt, "the values of the tasks cannot be read");
      for (const wire::pb::TaskRow& row : segments.back().rows()) note_files(task++, row);
    }
    if (!lists_.empty()) GW_TRY_VOID(read_files(manifest.array().count()));
    task = 0;
    for (int i = 0; i < manifest.array().segments_size(); ++i) {
      for (wire::pb::TaskRow& row : *segments[static_cast<std::size_t>(i)].mutable_rows()) GW_TRY_VOID(put_into(task++, row));
      const std::string changed = segments[static_cast<std::size_t>(i)].SerializeAsString();
      if (changed.size() > wire::kMaxRowSegmentBytes)
        return fail(Kind::invalid, "the tasks read more stored files than can be described: run the whole job again");
      GW_TRY_VOID(writer_.store_blob(as_bytes(changed)));
      manifest.mutable_array()->mutable_segments(i)->set_hash(wire::bytes_of(sha256(as_bytes(changed))));
    }
    return ok();
  }

 private:
  // Lets lists_ have an empty list for each task whose files are needed.
  void note_files(std::uint32_t task, const wire::pb::TaskRow& row) {
    if (!tasks_.contains(task)) return;
    for (const wire::pb::FromTask& from : row.files_from())
      if (!tasks_.contains(from.task())) lists_[from.task()];
    if (row.has_standard_input_from() && !tasks_.contains(row.standard_input_from().task())) lists_[row.standard_input_from().task()];
  }

  Status read_files(std::uint32_t tasks) {
    wire::OutputFileReader reader;
    Status read = ok();
    GW_TRY_VOID(reader_.read_output(id_, node::Stream::files, 0, Client::ReadUntil::now, [&](std::string_view bytes) {
      read = reader.add(bytes, [&](const wire::pb::Effect::OutputFile& piece) { return take(piece, tasks); });
      return read ? Client::StreamControl::proceed : Client::StreamControl::stop;
    }));
    return read;
  }

  Status take(const wire::pb::Effect::OutputFile& piece, std::uint32_t tasks) {
    const auto task = job::task_of_thread(job::ThreadId{piece.thread()}, tasks);
    const auto list = task ? lists_.find(*task) : lists_.end();
    if (list == lists_.end()) return ok();
    const bool has_bytes = piece.type() == wire::pb::Effect::OutputFile::FILE && !piece.bytes().empty();
    if (has_bytes) GW_TRY_VOID(writer_.store_blob(as_bytes(piece.bytes())));
    job::add_to_list(piece, piece.bytes().size(), has_bytes ? std::optional(sha256(as_bytes(piece.bytes()))) : std::nullopt, list->second);
    return ok();
  }

  Status put_into(std::uint32_t task, wire::pb::TaskRow& row) {
    google::protobuf::RepeatedPtrField<wire::pb::FromTask> left;
    row.mutable_files_from()->Swap(&left);
    if (!tasks_.contains(task)) {
      row.clear_standard_input_from();
      return ok();
    }
    for (const wire::pb::FromTask& from : left) {
      if (tasks_.contains(from.task())) {
        *row.add_files_from() = from;
        continue;
      }
      GW_TRY(const std::vector<wire::pb::InputEntry> entries, job::entries_of(from, lists_.at(from.task())));
      for (const wire::pb::InputEntry& entry : entries) *row.add_inputs() = entry;
    }
    if (!row.has_standard_input_from() || tasks_.contains(row.standard_input_from().task())) return ok();
    const wire::pb::FromTask& from = row.standard_input_from();
    GW_TRY(const std::vector<wire::pb::InputEntry> entries, job::entries_of(from, lists_.at(from.task())));
    *row.mutable_standard_input() = entries.front();
    row.clear_standard_input_from();
    return ok();
  }

  Client& reader_;
  Client& writer_;
  const job::JobId id_;
  const job::TaskSet& tasks_;
  std::map<std::uint32_t, wire::pb::TaskFileList> lists_;  // of tasks that do not run again, and whose files are needed
};

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
  GW_TRY(const job::TaskSet tasks, chosen_tasks(options, client, id, manifest.array().has_graph()));
  if (tasks.empty()) return fail(Kind::not_found, "job {} has no such tasks: list them with 'godwit task list {}'", id.brief(), id.brief());
  manifest = with_tasks(std::move(manifest), tasks, options.task);
  if (manifest.array().has_graph()) {
    Client writer(invocation.settings.socket());
    const Status put = StoredFiles(client, writer, id, tasks).put_into(manifest);
    if (!put) return explained(put.error(), id);
  }
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
       .details =
           "Submits a job with the same program, inputs and options that has only these tasks, with the same numbers. Of a graph, "
           "failed tasks run again with those that were skipped because of them, and find the stored files of the others. Inputs are "
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
