#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_tree.h"
#include "cli/jobs/task_list.h"

namespace gw::cli {

// Options of `run` that make an array of tasks of the program.
struct SweepOptions {
  std::string tasks;
  std::string each_line;
  std::vector<std::string> each_file;
  std::string from_json;
  std::string graph;                                 // a file of tasks that follow each other
  std::vector<std::vector<std::string>> lists = {};  // of `map`: the values after each ":::"

  bool is_array() const {
    return !tasks.empty() || !each_line.empty() || !each_file.empty() || !from_json.empty() || !graph.empty() || !lists.empty();
  }
};

void add_sweep_options(Command& command, SweepOptions& options);

// The tasks that the options ask for. Kind::invalid: two options say different things, or one is wrong. REQUIRES: is_array(), and
// no graph.
Result<TaskList> task_list_of(const SweepOptions& options);

// The words of `map` after "--": those of the program, and the lists after ":::" (values) and "::::" (files of values, a line each). A
// program without a placeholder gets the value as its last argument, as in GNU parallel.
struct MapWords {
  std::vector<std::string> args;
  std::vector<std::vector<std::string>> lists;
};
Result<MapWords> split_map_words(const std::vector<std::string>& words);

}  // namespace gw::cli
