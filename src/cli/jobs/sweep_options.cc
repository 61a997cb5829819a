#include "cli/jobs/sweep_options.h"

#include <algorithm>

#include "job/authority/placeholders.h"

namespace gw::cli {

void add_sweep_options(Command& command, SweepOptions& options) {
  command.add_option("--tasks", options.tasks,
                     "Run the program M times, or once for each number from A to B, as a job, at most N at once; {} stands for the number",
                     "M|A-B[:STEP][%N]");
  command.add_option("--each-line", options.each_line, "Run the program once for each line of FILE ('-': standard input); {} stands for it",
                     "FILE");
  command.add_repeatable("--each-file", options.each_file,
                         "Run the program once for each file that matches, which is an input of that task alone; {} stands for its path",
                         "PATTERN");
  command.add_option("--from-json", options.from_json,
                     "Run the program once for each item of a JSON array; {} stands for it, {key} for a value of an object", "FILE");
  command.add_option("--graph", options.graph,
                     "Run the program once for each task of a TOML file, in their order: each has arguments, files and tasks before it",
                     "FILE");
}

Result<TaskList> task_list_of(const SweepOptions& options) {
  const int sources = static_cast<int>(!options.tasks.empty()) + static_cast<int>(!options.each_line.empty()) +
                      static_cast<int>(!options.each_file.empty()) + static_cast<int>(!options.from_json.empty()) +
                      static_cast<int>(!options.lists.empty());
  if (sources > 1)
    return fail(Kind::invalid, "--tasks, --each-line, --each-file, --from-json and ':::' each say which tasks there are: give one of them");
  if (!options.tasks.empty()) return numbered_tasks(options.tasks);
  if (!options.each_file.empty()) return tasks_of_files(options.each_file);
  if (!options.lists.empty()) return tasks_of_lists(options.lists);
  const std::string& file = options.each_line.empty() ? options.from_json : options.each_line;
  GW_TRY(const std::string text, read_source(file));
  return options.each_line.empty() ? tasks_of_json(text, "--from-json " + file) : tasks_of_lines(text, "--each-line " + file);
}

Result<MapWords> split_map_words(const std::vector<std::string>& words) {
  MapWords map;
  const auto is_separator = [](const std::string& word) { return word == ":::" || word == "::::"; };
  auto at = std::ranges::find_if(words, is_separator);
  map.args.assign(words.begin(), at);
  if (at == words.end()) return fail(Kind::invalid, "say what to run the program on: godwit map FILE -- ARGS ::: VALUE...");
  while (at != words.end()) {
    const bool files = *at == "::::";
    const auto end = std::find_if(at + 1, words.end(), is_separator);
    std::vector<std::string> values(at + 1, end);
    if (files) {
      std::vector<std::string> lines;
      for (const std::string& file : values) {
        GW_TRY(const std::string text, read_source(file));
        GW_TRY(const TaskList list, tasks_of_lines(text, file));
        for (const std::vector<std::string>& row : list.rows) lines.push_back(row.front());
      }
      values = std::move(lines);
    }
    if (values.empty()) return fail(Kind::invalid, "no value follows '{}'", *at);
    map.lists.push_back(std::move(values));
    at = end;
  }
  if (std::ranges::none_of(map.args, job::has_placeholder)) map.args.emplace_back("{}");
  return map;
}

}  // namespace gw::cli
