#pragma once
// An array of tasks with values, input files and output files of their own, put together for submission.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/jobs/graph_file.h"
#include "cli/jobs/task_list.h"
#include "job/authority/placeholders.h"
#include "node/jobs/job_files.h"
#include "wire/peer.pb.h"

namespace gw::cli {

// The words of a command that may contain placeholders.
struct SweepWords {
  std::vector<std::string> inputs, outputs;  // HOST[:GUEST]
  std::string standard_input;                // a file; empty: none
  std::vector<std::string> args, env;        // placed in the configuration of all tasks, where they are expanded
};

// Output paths of tasks on this machine and in the program: a function of the task.
class TaskOutputPaths {
 public:
  static Result<TaskOutputPaths> make(const std::vector<std::string>& outputs, const std::vector<std::string>& columns);
  // Of a graph: listed for each task.
  explicit TaskOutputPaths(std::vector<std::vector<node::Mount>> listed);
  TaskOutputPaths() = default;

  bool empty() const { return outputs_.empty() && listed_.empty(); }
  // Kind::invalid: a value makes a path of it that leads out of the program's tree.
  Result<std::vector<node::Mount>> of(const TaskList& tasks, std::uint32_t task) const;
  // The paths in the program, with their placeholders.
  const std::vector<std::string>& guest_texts() const { return guest_texts_; }

 private:
  struct Output {
    job::Template host, guest;
  };
  std::vector<Output> outputs_;
  std::vector<std::string> guest_texts_;
  std::vector<std::vector<node::Mount>> listed_;  // empty: no task has one
};

// The parts of an array that are submitted beside the program: the description for the manifest, and rows in segments, which are blobs.
//
// Rows exist only if tasks have more than a number: values of a list, or files. Files that no placeholder names are common to all tasks and
// not in rows. Hashes each file once.
class Sweep {
 public:
  // Adds the files of tasks to `inputs`. Kind::invalid, Kind::not_found: a word or a file is wrong, and which task it is of.
  static Result<Sweep> make(TaskList tasks, const SweepWords& words, node::InputFiles& inputs);

  // The tasks of a graph.
  static Result<Sweep> make(GraphFile graph, node::InputFiles& inputs);

  const TaskList& tasks() const { return tasks_; }
  const wire::pb::Manifest::TaskArray& array() const { return array_; }
  const std::vector<std::string>& segments() const { return segments_; }
  const TaskOutputPaths& outputs() const { return outputs_; }
  // The standard input that all tasks have; none: they have none, or each has its own.
  const std::optional<wire::pb::InputEntry>& standard_input() const { return standard_input_; }

  // Inputs without placeholders, which all tasks have.
  static std::vector<std::string> common_inputs(const std::vector<std::string>& inputs);

 private:
  struct Files {
    job::Template host, guest;
  };

  Status read_words(const SweepWords& words, node::InputFiles& inputs);
  Status check_outputs() const;
  Status add_rows(node::InputFiles& inputs);
  Status add_row(std::uint32_t task, wire::pb::TaskRow row);
  Status close_rows();
  Result<wire::pb::TaskRow> row_of(GraphTask& described, std::uint32_t task, node::InputFiles& inputs);
  Result<wire::pb::TaskRow> row_of(std::uint32_t task, node::InputFiles& inputs);
  Status add_files(const std::string& host, const std::string& guest, std::uint32_t task, node::InputFiles& inputs, wire::pb::TaskRow& row);
  Result<std::string> expand(const job::Template& text, std::uint32_t task) const;
  void close_segment();

  TaskList tasks_;
  wire::pb::Manifest::TaskArray array_;
  std::vector<std::string> segments_;
  TaskOutputPaths outputs_;
  std::optional<wire::pb::InputEntry> standard_input_;
  std::vector<Files> inputs_;                         // of each task
  std::optional<job::Template> task_input_;           // standard input of each task
  std::vector<std::size_t> used_;                     // columns that placeholders name
  std::map<std::string, wire::pb::TaskRow> scanned_;  // entries of files that several tasks may name, by host and guest path
  wire::pb::TaskRows open_;                           // the next segment
  std::size_t open_bytes_ = 0;
};

}  // namespace gw::cli
