#pragma once
// The output files of the tasks of a job on its submitter's machine.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/jobs/job_files.h"

namespace gw::node {

// Takes the files of tasks as they come, in any order of the tasks, and puts each into its place when its last piece is there: a file is
// written whole or not at all. A task whose files cannot be written, or that names one it has not declared, spoils no other task.
//
// Memory: the tasks with a file in progress, and the failures. Belongs to one thread.
class TaskOutputFiles {
 public:
  // Where the files of a thread go; Kind::invalid: the thread has none.
  using MountsOf = std::function<Result<std::vector<Mount>>(std::uint64_t thread)>;
  explicit TaskOutputFiles(MountsOf mounts_of) : mounts_of_(std::move(mounts_of)) {}

  void take(const wire::pb::Effect::OutputFile& piece);
  // Files, folders and links in their places.
  std::size_t placed() const { return placed_; }
  // Threads some of whose files could not be written, and why.
  const std::map<std::uint64_t, std::string>& failures() const { return failures_; }
  // Nothing comes any more: a file without its last piece is a failure.
  void finish();

 private:
  Status add(const wire::pb::Effect::OutputFile& piece);

  const MountsOf mounts_of_;
  std::map<std::uint64_t, std::unique_ptr<OutputFiles>> open_;  // threads with a file in progress
  std::map<std::uint64_t, std::string> failures_;
  std::size_t placed_ = 0;
};

}  // namespace gw::node
