#pragma once
// What a job is, as its submitter signed it.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/signature.h"
#include "job/names.h"

namespace gw::job {

// A manifest whose signature and content have been checked: whoever has one need not look again.
//
// Limits: kMaxManifestBytes, kMaxTasks, a module of at most wire::kMaxModuleBytes.
class Manifest {
 public:
  static constexpr int kMaxTasks = 10000;

  // The bytes of a pb::SignedManifest. Kind::invalid with what is wrong.
  static Result<Manifest> check(ByteView signed_manifest);
  // Signs `content`, whose submitter is set here.
  static Bytes sign(wire::pb::Manifest content, const SigningKey& key);

  const JobId& id() const { return id_; }
  const wire::pb::Manifest& content() const { return content_; }

  // Where it runs. None: in the first grid of its home.
  std::optional<wire::GridId> grid() const;
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
  JobId id_;
  wire::pb::Manifest content_;
};

}  // namespace gw::job
