#pragma once
// The configuration of one task of an array.

#include <cstdint>
#include <string>
#include <vector>

#include "job/authority/placeholders.h"
#include "wire/worker.pb.h"

namespace gw::job {

// The configurations of the tasks of a job: that of all tasks, in which placeholders (job/authority/placeholders.h) stand for the values of
// each, its own random seed, and in an array its number, in GODWIT_TASK of GODWIT_TASKS. The values of a task are its number, first + k *
// step, or come from its row, with input files and standard input, further arguments, variables and outputs of its own. Submitter, hosts
// and workers compute a configuration alike, so that tasks are neither listed in the manifest nor sent by home.
//
// Costs: O(size of the configuration) for each task. Limit: kMaxBytes of arguments, of variables and of outputs, whatever the values are.
class TaskConfigs {
 public:
  static constexpr std::size_t kMaxBytes = 1u << 20;

  // `tasks` 0: the job is no array, and has no placeholders. Kind::invalid: a placeholder is not known, or a column has no good name.
  static Result<TaskConfigs> make(const wire::pb::ThreadConfig& shared, std::uint32_t tasks, const wire::pb::TaskValues& values);

  bool has_rows() const { return has_rows_; }
  // `row`: of the task, if the array has rows; else nullptr. Kind::invalid: the row does not have the values, or the configuration is too
  // large or has outputs that are no paths.
  Result<wire::pb::ThreadConfig> config_of(std::uint32_t task, const wire::pb::TaskRow* row) const;

 private:
  using Strings = google::protobuf::RepeatedPtrField<std::string>;
  static Result<std::vector<Template>> parse_all(const Strings& texts, const std::vector<std::string>& columns);
  static Status expand_all(const std::vector<Template>& templates, const PlaceholderValues& values, Strings& out);

  wire::pb::ThreadConfig shared_;  // with arguments and variables of a job that is no array, and without those of an array
  std::uint32_t tasks_ = 0;
  std::int64_t first_ = 0, step_ = 1;
  bool has_rows_ = false;
  std::size_t columns_ = 0;
  std::vector<Template> args_, env_, outputs_;
};

// A path in the guest's tree as a task names it: without leading and doubled slashes and "."; a slash at its end stays. Kind::invalid: ".."
// is in it, or nothing is left.
Result<std::string> tree_path_of(std::string_view text);

}  // namespace gw::job
