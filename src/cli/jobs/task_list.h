#pragma once
// The tasks that a user asks for, and where their values come from.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gw::cli {

// The tasks of an array: numbers that follow from the first one, or a list of values, by column.
struct TaskList {
  std::uint32_t count = 0;
  std::int64_t first = 0, step = 1;            // of numbers
  std::optional<std::uint32_t> at_once = {};   // at most
  std::vector<std::string> columns = {""};     // names as in "{name}"
  std::vector<std::vector<std::string>> rows;  // a value for each column; empty: numbers
  std::vector<std::string> files = {};         // for each task a file that only this task reads; "": none. Empty: no task has one

  bool has_rows() const { return !rows.empty(); }
  // The values of a task, by column.
  std::vector<std::string> values_of(std::uint32_t task) const;
};

// All: at most wire::kMaxTasks tasks, each value at most kMaxValueBytes; Kind::invalid with the option and what is wrong.
inline constexpr std::size_t kMaxValueBytes = 64u << 10;

// "M": 0 to M-1; "A-B": A to B; "A-B:S": in steps of S; each with "%N": at most N at once.
Result<TaskList> numbered_tasks(std::string_view text);
// The lines of a text.
Result<TaskList> tasks_of_lines(std::string_view text, std::string_view source);
// The files that match the patterns, in the order of the patterns and of their names. Each is an input of its task.
Result<TaskList> tasks_of_files(const std::vector<std::string>& patterns);
// A JSON array of values, or of objects with the same keys: "{key}" then stands for the value of a key.
Result<TaskList> tasks_of_json(std::string_view text, std::string_view source);
// Every combination of a value of each list, the last list first, as GNU parallel has it: "{1}", "{2}", ... and "{}" for all of them. A
// value that is the name of a file is an input of its task.
Result<TaskList> tasks_of_lists(const std::vector<std::vector<std::string>>& lists);

// A file, or standard input ("-"). Kind::invalid: it has more than 256 MiB.
Result<std::string> read_source(const std::string& file);

}  // namespace gw::cli
