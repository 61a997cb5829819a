#pragma once
// The order of the tasks of an array: stages that follow each other; docs/design/020-graphs.md.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/tasks/task_set.h"
#include "wire/peer.pb.h"

namespace gw::job {

// The stages of an array. A stage is one or more tasks that follow each other; it begins when all tasks of the stages before it have ended
// well. Stages before another one have lower numbers, so there are no cycles.
//
// Costs: O(log stages) for stage_of(), else O(1). Limits: wire::kMaxStages, wire::kMaxGraphEdges. An immutable value.
class TaskGraph {
 public:
  // Kind::invalid: the rule that is broken.
  static Result<TaskGraph> make(const wire::pb::Manifest::TaskArray::Graph& graph, std::uint32_t tasks);

  std::uint32_t stages() const { return static_cast<std::uint32_t>(names_.size()); }
  // REQUIRES of these: the task or stage exists.
  std::uint32_t stage_of(std::uint32_t task) const;
  TaskSpan tasks_of(std::uint32_t stage) const;
  std::span<const std::uint32_t> before(std::uint32_t stage) const { return before_.of(stage); }
  std::span<const std::uint32_t> behind(std::uint32_t stage) const { return behind_.of(stage); }
  const std::string& name(std::uint32_t stage) const { return names_[stage]; }
  // Tasks behind it read output files of its tasks.
  bool files_are_read(std::uint32_t stage) const { return files_are_read_[stage] != 0; }
  // "render", or "render[3]" if the stage has several tasks.
  std::string name_of_task(std::uint32_t task) const;

  // For each stage a failed task because of which it is skipped; kNone: it is not. `failed`: tasks.
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> causes(const TaskSet& failed) const;

 private:
  // Lists of stages, one for each stage, one after the other.
  struct Lists {
    std::vector<std::uint32_t> ends;
    std::vector<std::uint32_t> stages;
    std::span<const std::uint32_t> of(std::uint32_t stage) const;
  };

  std::vector<std::string> names_;
  std::vector<std::uint32_t> ends_;  // of each stage, the task behind its last
  std::vector<std::uint8_t> files_are_read_;
  Lists before_, behind_;
};

// Whether a stage can have this name: letters, digits, '_', '-' and '.', at most 64.
bool is_stage_name(std::string_view name);

// The sentence about a task that is skipped. `cause`: the task that failed, by name.
std::string sentence_of_skipped(const std::string& cause);

}  // namespace gw::job
