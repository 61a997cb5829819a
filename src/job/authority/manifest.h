#pragma once
// The manifest of a job: the program, its tasks and its limits.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "job/authority/task_config.h"
#include "job/names.h"
#include "job/tasks/task_graph.h"
#include "job/tasks/task_set.h"

namespace gw::job {

// Whether a job may have this name. "last" and "last-2" name jobs by their age, and no job has such a name. Kind::invalid.
Status check_job_name(std::string_view name);

// A manifest whose content has been checked; code that has one need not check it again. The job's charter (job/authority/charter.h) has
// the hash of its bytes.
//
// Limits: kMaxManifestBytes, wire::kMaxTasks, a module of at most wire::kMaxModuleBytes, an image of at most kMaxImageBytes that is no
// larger than the memory and file limits of the policy allow: each host puts the image together in its memory; wire::kMaxRowSegments.
class Manifest {
 public:
  // A module or an image is cut into pieces of 1 MiB. Each piece is a blob; the manifest lists their hashes.
  static std::vector<ByteView> pieces_of(ByteView file);
  static wire::pb::Manifest::Module describe(ByteView file);

  static constexpr std::uint32_t kMaxRetries = 1000;
  static constexpr std::uint64_t kMaxImageBytes = std::uint64_t{8} << 30;

  // Takes the bytes of a pb::Manifest. Kind::invalid with the reason.
  static Result<Manifest> check(ByteView bytes);
  // Encodes `content` and sets its version.
  static Bytes encode(wire::pb::Manifest content);

  const wire::pb::Manifest& content() const { return content_; }

  // The name that the submitter gave the job, else that of its program.
  std::string name() const;
  // The program's name: its first argument.
  std::string program() const;
  // Of the whole array: numbers of tasks are below it.
  std::uint32_t tasks() const { return content_.has_array() ? content_.array().count() : 1; }
  // The tasks run on the task plane (docs/design/013-task-plane.md); else each is a thread from its start, as the one task of a job is.
  bool on_task_plane() const { return tasks() > 1 && content_.policy().promote_after_ns() > 0; }
  // The tasks of the array that the job has.
  std::vector<TaskSpan> selected() const;
  std::uint32_t selected_count() const;
  // The order of the tasks; nullptr: they have none.
  const std::shared_ptr<const TaskGraph>& graph() const { return graph_; }
  ThreadId thread_of(std::uint32_t task) const { return thread_of_task(task, tasks()); }
  // The configuration of a task (TaskConfigs::config_of).
  Result<wire::pb::ThreadConfig> config_of(std::uint32_t task, const wire::pb::TaskRow* row) const {
    return configs_->config_of(task, row);
  }

  // The rows of the array are in segments.
  bool has_rows() const { return !segment_ends_.empty(); }
  struct RowPosition {
    std::uint32_t segment;
    std::uint32_t row;  // in it
  };
  // REQUIRES: has_rows(), and the task exists.
  RowPosition row_of(std::uint32_t task) const;
  Hash256 segment(std::uint32_t segment) const { return wire::hash_of(content_.array().segments(static_cast<int>(segment)).hash()); }

  // The pieces of the module, in order; and all pieces that home must have before the job begins, beside the input files that rows name.
  std::vector<Hash256> module_chunks() const;
  std::vector<Hash256> all_chunks() const;
  // The pieces of the input files, with their sizes.
  std::map<Hash256, std::uint32_t> input_chunks() const;

  // The image that the only task begins with, in pieces of 1 MiB; nullptr: the task begins with its configuration.
  const wire::pb::Manifest::Module* image() const;
  std::vector<Hash256> image_chunks() const;

 private:
  wire::pb::Manifest content_;
  std::shared_ptr<const TaskConfigs> configs_;  // shared by copies of the manifest
  std::shared_ptr<const TaskGraph> graph_;      // likewise
  std::vector<std::uint32_t> segment_ends_;     // for each segment of rows, the task behind its last
};

// The blobs that home holds for a job: those that the manifest names, and the pieces of the input files that rows name
// (pb::JobSubmission::row_inputs). Kind::invalid: `row_inputs` are no hashes, there are too many, or the job has no rows.
Result<std::vector<Hash256>> blobs_of_job(const Manifest& manifest, std::string_view row_inputs);

}  // namespace gw::job
