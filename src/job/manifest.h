#pragma once
// What a job runs, as its charter names it.

#include <cstdint>
#include <vector>

#include "job/names.h"

namespace gw::job {

// A manifest whose content has been checked: whoever has one need not look again. Its bytes are named by the job's charter (job/charter.h).
//
// Limits: kMaxManifestBytes, wire::kMaxTasks, a module of at most wire::kMaxModuleBytes.
class Manifest {
 public:
  // The bytes of a pb::Manifest. Kind::invalid with what is wrong.
  static Result<Manifest> check(ByteView bytes);
  // `content`, whose version is set here.
  static Bytes encode(wire::pb::Manifest content);

  const wire::pb::Manifest& content() const { return content_; }

  // The program's name, as its arguments say.
  std::string name() const;
  std::uint32_t tasks() const { return static_cast<std::uint32_t>(content_.tasks_size()); }
  ThreadId thread_of(std::uint32_t task) const { return thread_of_task(task, tasks()); }
  // What task `task` starts with: the common part, its own arguments and environment, a random seed of its own.
  wire::pb::ThreadConfig config_of(std::uint32_t task) const;

  // Pieces of the module, in order; and everything that must be at home before the job begins.
  std::vector<Hash256> module_chunks() const;
  std::vector<Hash256> all_chunks() const;

 private:
  wire::pb::Manifest content_;
};

}  // namespace gw::job
