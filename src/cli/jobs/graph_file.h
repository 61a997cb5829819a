#pragma once
// The file of `run --graph`: the tasks of a job, and which of them come before others; docs/design/020-graphs.md.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/settings/input_patterns.h"
#include "node/jobs/job_files.h"
#include "wire/peer.pb.h"

namespace gw::cli {

// A task as the file describes it. Paths "HOST:GUEST" are split; HOST is a path of this machine.
struct GraphTask {
  std::vector<std::string> args, env;
  std::vector<InputPath> inputs;
  std::vector<wire::pb::FromTask> files_from;  // inputs that tasks before it leave
  std::string standard_input;                  // a file; empty: none
  std::optional<wire::pb::FromTask> standard_input_from;
  std::vector<node::Mount> outputs;
};

struct GraphFile {
  std::vector<GraphTask> tasks;                // in the order of their numbers
  wire::pb::Manifest::TaskArray::Graph graph;  // the stages
};

// Stages are tables [[task]] with a name; each comes behind those that it names in `after`, and those whose outputs are its inputs. They
// are numbered so that each comes behind those before it, else in the order of the file. An array of tasks is a stage too: {} and {#} in
// its texts stand for the value and the number of each.
//
// Kind::invalid, with the line: an unknown key or name, a name used twice, two tasks that write the same file, stages that follow each
// other in a circle. Limits: wire::kMaxTasks, wire::kMaxStages, wire::kMaxGraphEdges, kMaxGraphFileBytes.
inline constexpr std::size_t kMaxGraphFileBytes = 64u << 20;
Result<GraphFile> read_graph_file(const std::filesystem::path& file);
Result<GraphFile> parse_graph(std::string_view text, std::string_view file);

}  // namespace gw::cli
