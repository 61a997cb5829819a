#pragma once
// Lists of the tasks of a job, for people.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "job/home/job_snapshot.h"
#include "job/tasks/task_set.h"

namespace gw::job {

enum class TaskFilter : std::uint8_t { all, waiting, running, done, failed, skipped };

struct TaskQuery {
  TaskFilter filter = TaskFilter::all;
  std::uint32_t from = 0;  // the first number that is wanted
  std::size_t limit = 0;
};

struct TaskPage {
  std::vector<ThreadView> tasks;      // by number
  std::optional<std::uint32_t> next;  // where the next page begins; none: this is the last one
  std::uint64_t count = 0;            // of all tasks that the filter lets through
};

// The tasks of a job by their state. Only waiting ones of a job that is over: they never ran to an end.
struct TaskStates {
  std::vector<TaskSpan> selected;  // all tasks of the job, ascending
  TaskSet waiting, running, failed, skipped;
  std::shared_ptr<const TaskGraph> graph;  // nullptr: none

  // The tasks that the filter lets through.
  TaskSet filtered(TaskFilter filter) const;
};
// Costs: O(ranges of tasks + threads), never O(tasks).
TaskStates states_of(const Manifest& manifest, const HomeTables& tables);
// Of a job that is over, from the record of its details. Kind::corrupt: its ranges are no ranges of tasks.
Result<TaskStates> states_of(const wire::pb::JobRecord& details);

// The numbers of a page: `states` and `query` give them, the caller fills in the rest.
TaskPage page_of(const TaskStates& states, const TaskQuery& query, std::uint32_t tasks);

// Adds what the details of a job that is over say of some of its tasks: a thread that was given up has no end in the output.
void add_details(const wire::pb::JobRecord& details, TaskPage& page);

// A page of a job that runs. Tasks that are over have no times here: those are in the output (node/jobs/task_reader.h).
TaskPage list_tasks(const Manifest& manifest, const HomeTables& tables, const TaskQuery& query);

}  // namespace gw::job
