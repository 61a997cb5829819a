#include "cli/jobs/sweep.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "cli/jobs/stdin_file.h"
#include "cli/settings/input_patterns.h"
#include "job/authority/task_config.h"
#include "wire/messages/worker_frames.h"
#include "wire/names.h"

namespace gw::cli {
namespace {

using job::Template;

constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::size_t kRowOverhead = 8;  // of a row in its segment
constexpr std::size_t kScanned = 65536;  // files that are remembered by name

Result<Template> parse_template(const std::string& option, const std::string& text, const std::vector<std::string>& columns) {
  auto parsed = Template::parse(text, columns);
  if (!parsed) return fail(Kind::invalid, "{}: {}", option, parsed.error().detail);
  return parsed;
}

Result<std::string> expand_for(const Template& text, const TaskList& tasks, std::uint32_t task) {
  std::string expanded;
  const std::vector<std::string> values = tasks.values_of(task);
  if (!text.expand({std::to_string(task), values}, kMaxPathBytes, expanded))
    return fail(Kind::invalid, "task {} would have a path of more than {} bytes", task, kMaxPathBytes);
  return expanded;
}

Status clash(std::uint32_t one, std::uint32_t other, const std::string& path) {
  return fail(Kind::invalid, "tasks {} and {} would both write {}: put {{#}} or another placeholder into --output", std::min(one, other),
              std::max(one, other), path);
}

}  // namespace

Result<TaskOutputPaths> TaskOutputPaths::make(const std::vector<std::string>& outputs, const std::vector<std::string>& columns) {
  TaskOutputPaths paths;
  for (const std::string& text : outputs) {
    const InputPath words = split_paths(text);
    if (words.host.empty()) return fail(Kind::invalid, "--output '{}' names no file: write HOST or HOST:GUEST", text);
    GW_TRY(Template host, parse_template("--output", words.host, columns));
    GW_TRY(Template guest, parse_template("--output", words.guest, columns));
    paths.outputs_.push_back({std::move(host), std::move(guest)});
    paths.guest_texts_.push_back(words.guest);
  }
  return paths;
}

TaskOutputPaths::TaskOutputPaths(std::vector<std::vector<node::Mount>> listed) {
  if (std::ranges::any_of(listed, [](const auto& mounts) { return !mounts.empty(); })) listed_ = std::move(listed);
}

Result<std::vector<node::Mount>> TaskOutputPaths::of(const TaskList& tasks, std::uint32_t task) const {
  if (!listed_.empty()) return listed_[task];
  std::vector<node::Mount> mounts;
  for (const Output& output : outputs_) {
    GW_TRY(std::string host, expand_for(output.host, tasks, task));
    GW_TRY(const std::string text, expand_for(output.guest, tasks, task));
    auto guest = job::tree_path_of(text);
    if (!guest) return fail(Kind::invalid, "--output of task {}: {}; give the program's path with HOST:GUEST", task, guest.error().detail);
    if (guest->ends_with('/')) guest->pop_back();
    while (host.size() > 1 && host.ends_with('/')) host.pop_back();
    mounts.push_back({std::move(host), *std::move(guest)});
  }
  return mounts;
}

std::vector<std::string> Sweep::common_inputs(const std::vector<std::string>& inputs) {
  std::vector<std::string> common;
  std::ranges::copy_if(inputs, std::back_inserter(common), [](const std::string& text) { return !job::has_placeholder(text); });
  return common;
}

Result<Sweep> Sweep::make(TaskList tasks, const SweepWords& words, node::InputFiles& inputs) {
  Sweep sweep;
  sweep.tasks_ = std::move(tasks);
  sweep.array_.set_count(sweep.tasks_.count);
  GW_TRY_VOID(sweep.read_words(words, inputs));
  GW_TRY_VOID(sweep.check_outputs());
  wire::pb::TaskValues& values = *sweep.array_.mutable_values();
  values.set_first(sweep.tasks_.first);
  values.set_step(sweep.tasks_.step);
  for (const std::string& output : sweep.outputs_.guest_texts()) values.add_outputs(output);
  const bool files = !sweep.inputs_.empty() || sweep.task_input_ || !sweep.tasks_.files.empty();
  if (!sweep.tasks_.has_rows() && !files) return sweep;
  values.set_has_rows(true);
  for (const std::size_t column : sweep.used_) values.add_columns(sweep.tasks_.columns[column]);
  GW_TRY_VOID(sweep.add_rows(inputs));
  return sweep;
}

Result<Sweep> Sweep::make(GraphFile graph, node::InputFiles& inputs) {
  Sweep sweep;
  sweep.tasks_ = {.count = static_cast<std::uint32_t>(graph.tasks.size())};
  sweep.array_.set_count(sweep.tasks_.count);
  sweep.array_.mutable_values()->set_has_rows(true);
  if (graph.tasks.size() > 1) *sweep.array_.mutable_graph() = std::move(graph.graph);
  std::vector<std::vector<node::Mount>> outputs;
  for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
    GW_TRY(wire::pb::TaskRow row, sweep.row_of(graph.tasks[task], task, inputs));
    GW_TRY_VOID(sweep.add_row(task, std::move(row)));
    outputs.push_back(std::move(graph.tasks[task].outputs));
  }
  GW_TRY_VOID(sweep.close_rows());
  sweep.outputs_ = TaskOutputPaths(std::move(outputs));
  return sweep;
}

Status Sweep::read_words(const SweepWords& words, node::InputFiles& inputs) {
  const std::vector<std::string>& columns = tasks_.columns;
  std::set<std::size_t> used;
  const auto note = [&](const Template& text) {
    for (const std::size_t column : text.columns()) used.insert(column);
  };
  for (const auto* list : {&words.args, &words.env})
    for (const std::string& text : *list) {
      GW_TRY(const Template parsed, Template::parse(text, columns));
      note(parsed);
    }
  for (const std::string& text : words.inputs) {
    if (!job::has_placeholder(text)) continue;
    const InputPath parts = split_paths(text);
    GW_TRY(Template host, parse_template("--input", parts.host, columns));
    GW_TRY(Template guest, parse_template("--input", parts.guest, columns));
    inputs_.push_back({std::move(host), std::move(guest)});
  }
  GW_TRY(outputs_, TaskOutputPaths::make(words.outputs, columns));
  for (const std::string& text : outputs_.guest_texts()) note(*Template::parse(text, columns));
  if (job::has_placeholder(words.standard_input)) {
    GW_TRY(task_input_, parse_template("--stdin", words.standard_input, columns));
  } else if (!words.standard_input.empty()) {
    GW_TRY(standard_input_, add_stdin_file(words.standard_input, inputs));
  }
  used_.assign(used.begin(), used.end());
  return ok();
}

// Two tasks must not write the same place here, nor one of them below a place of another.
Status Sweep::check_outputs() const {
  if (outputs_.empty()) return ok();
  std::vector<std::pair<std::string, std::uint32_t>> places;
  for (std::uint32_t task = 0; task < tasks_.count; ++task) {
    GW_TRY(const std::vector<node::Mount> mounts, outputs_.of(tasks_, task));
    for (const node::Mount& mount : mounts) places.emplace_back(mount.host.lexically_normal().string() + "/", task);
  }
  std::ranges::sort(places);
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i].first.starts_with(places[i - 1].first))
      return clash(places[i - 1].second, places[i].second, places[i - 1].first.substr(0, places[i - 1].first.size() - 1));
  return ok();
}

Result<std::string> Sweep::expand(const Template& text, std::uint32_t task) const { return expand_for(text, tasks_, task); }

Status Sweep::add_files(const std::string& host, const std::string& guest, std::uint32_t task, node::InputFiles& inputs,
                        wire::pb::TaskRow& row) {
  const std::string name = host + '\0' + guest;
  auto known = scanned_.find(name);
  if (known == scanned_.end()) {
    GW_TRY(const std::vector<InputPath> matches, match_input(host, guest));
    wire::pb::TaskRow files;
    for (const InputPath& match : matches) {
      auto path = job::tree_path_of(match.guest);
      if (!path)
        return fail(Kind::invalid, "the input {} of task {}: {}; give the program's path with HOST:GUEST", match.host, task,
                    path.error().detail);
      if (path->ends_with('/')) path->pop_back();
      GW_TRY(const std::vector<wire::pb::InputEntry> entries, inputs.add_apart({match.host, *path}));
      for (const wire::pb::InputEntry& entry : entries) *files.add_inputs() = entry;
    }
    if (scanned_.size() >= kScanned) scanned_.clear();
    known = scanned_.emplace(name, std::move(files)).first;
  }
  for (const wire::pb::InputEntry& entry : known->second.inputs()) *row.add_inputs() = entry;
  return ok();
}

Result<wire::pb::TaskRow> Sweep::row_of(std::uint32_t task, node::InputFiles& inputs) {
  wire::pb::TaskRow row;
  const std::vector<std::string> values = tasks_.values_of(task);
  for (const std::size_t column : used_) row.add_values(values[column]);
  if (!tasks_.files.empty() && !tasks_.files[task].empty())
    GW_TRY_VOID(add_files(tasks_.files[task], tasks_.files[task], task, inputs, row));
  for (const Files& files : inputs_) {
    GW_TRY(const std::string host, expand(files.host, task));
    GW_TRY(const std::string guest, expand(files.guest, task));
    GW_TRY_VOID(add_files(host, guest, task, inputs, row));
  }
  if (task_input_) {
    GW_TRY(const std::string host, expand(*task_input_, task));
    GW_TRY(*row.mutable_standard_input(), add_stdin_file(host, inputs));
  }
  return row;
}

Result<wire::pb::TaskRow> Sweep::row_of(GraphTask& described, std::uint32_t task, node::InputFiles& inputs) {
  wire::pb::TaskRow row;
  for (std::string& argument : described.args) row.add_args(std::move(argument));
  for (std::string& variable : described.env) row.add_env(std::move(variable));
  for (const InputPath& input : described.inputs) GW_TRY_VOID(add_files(input.host, input.guest, task, inputs, row));
  for (wire::pb::FromTask& from : described.files_from) *row.add_files_from() = std::move(from);
  for (const node::Mount& output : described.outputs) row.add_outputs(output.guest);
  if (described.standard_input_from) *row.mutable_standard_input_from() = *std::move(described.standard_input_from);
  if (!described.standard_input.empty()) {
    GW_TRY(*row.mutable_standard_input(), add_stdin_file(described.standard_input, inputs));
  }
  return row;
}

Status Sweep::add_rows(node::InputFiles& inputs) {
  for (std::uint32_t task = 0; task < tasks_.count; ++task) {
    GW_TRY(wire::pb::TaskRow row, row_of(task, inputs));
    GW_TRY_VOID(add_row(task, std::move(row)));
  }
  return close_rows();
}

Status Sweep::add_row(std::uint32_t task, wire::pb::TaskRow row) {
  const std::size_t bytes = row.ByteSizeLong() + kRowOverhead;
  if (bytes > wire::kMaxRowSegmentBytes)
    return fail(Kind::invalid, "task {} has {} input files, more than can be described for one task: pack them into one", task,
                row.inputs_size() + row.files_from_size());
  if (open_bytes_ + bytes > wire::kMaxRowSegmentBytes || open_.rows_size() == wire::kMaxSegmentRows) close_segment();
  open_bytes_ += bytes;
  *open_.add_rows() = std::move(row);
  return ok();
}

Status Sweep::close_rows() {
  close_segment();
  if (segments_.size() > wire::kMaxRowSegments)
    return fail(Kind::invalid, "the values and files of the tasks take more than {} MiB: submit them as several jobs",
                wire::kMaxRowSegments);
  return ok();
}

void Sweep::close_segment() {
  segments_.push_back(open_.SerializeAsString());
  wire::pb::Manifest::TaskArray::Segment& segment = *array_.add_segments();
  segment.set_hash(wire::bytes_of(sha256(as_bytes(segments_.back()))));
  segment.set_rows(static_cast<std::uint32_t>(open_.rows_size()));
  open_.Clear();
  open_bytes_ = 0;
}

}  // namespace gw::cli
