#pragma once
// The manifest of a job: the program, its tasks and its limits.

#include <cstdint>
#include <vector>

#include "job/names.h"

namespace gw::job {

// A manifest whose content has been checked; code that has one need not check it again. The job's charter (job/authority/charter.h) has
// the hash of its bytes.
//
// Limits: kMaxManifestBytes, wire::kMaxTasks, a module of at most wire::kMaxModuleBytes, an image of at most kMaxImageBytes that is no
// larger than the memory and file limits of the policy allow: each host puts the image together in its memory.
class Manifest {
 public:
  // A module or an image is cut into pieces of 1 MiB. Each piece is a blob; the manifest lists their hashes.
  static std::vector<ByteView> pieces_of(ByteView file);
  static wire::pb::Manifest::Module describe(ByteView file);

  static constexpr std::uint64_t kMaxImageBytes = std::uint64_t{8} << 30;

  // Takes the bytes of a pb::Manifest. Kind::invalid with the reason.
  static Result<Manifest> check(ByteView bytes);
  // Encodes `content` and sets its version.
  static Bytes encode(wire::pb::Manifest content);

  const wire::pb::Manifest& content() const { return content_; }

  // The program's name: its first argument.
  std::string name() const;
  std::uint32_t tasks() const { return content_.has_array() ? content_.array().count() : 1; }
  // The tasks run on the task plane (docs/design/013-task-plane.md); else each is a thread from its start, as the one task of a job is.
  bool on_task_plane() const { return tasks() > 1 && content_.policy().promote_after_ns() > 0; }
  ThreadId thread_of(std::uint32_t task) const { return thread_of_task(task, tasks()); }
  // The configuration of task `task` (job/authority/task_config.h).
  wire::pb::ThreadConfig config_of(std::uint32_t task) const;

  // The pieces of the module, in order; and all pieces that home must have before the job begins.
  std::vector<Hash256> module_chunks() const;
  std::vector<Hash256> all_chunks() const;

  // The image that the only task begins with, in pieces of 1 MiB; nullptr: the task begins with its configuration.
  const wire::pb::Manifest::Module* image() const;
  std::vector<Hash256> image_chunks() const;

 private:
  wire::pb::Manifest content_;
};

}  // namespace gw::job
