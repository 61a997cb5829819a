#pragma once
// The store of the peer of a command that keeps no job file: everything is in memory.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/shared_bytes.h"
#include "node/embedded/job_store.h"

namespace gw::node {

// Nothing survives the process, unless copy_to() is called at its end. Of effects only their numbers are kept, and forks and ends: the
// others have been shown, or are about to be. Limits: those of the peer.
class MemoryStore final : public JobStore {
 public:
  Status commit(std::span<const DiskAction> actions) override;
  Result<peer::Stored> stored() override;
  std::uint64_t file_bytes() const override { return 0; }
  Result<std::string> load(const Hash256& hash) override;
  Result<SharedBytes> view(const Hash256& hash) override;

  // Copies everything; effects become empty ones, but for those that are `unshown`.
  Status copy_to(JobStore& other, const std::deque<job::Effect>& unshown) const;

 private:
  struct Thread {
    std::uint64_t epoch = 0;
    job::StreamMarks effects;
  };

  void apply(const job::Persist& persist);
  void apply(const job::DropRecords& drop);
  void apply(const job::StoreBlob& blob) { blobs_[blob.hash] = blob.bytes; }
  void apply(const job::DropBlob& blob) { blobs_.erase(blob.hash); }
  void apply(const job::RetainBlobs& retain);
  void apply(const InputTaken&) {}

  std::vector<job::EffectEntry> history(const std::deque<job::Effect>& unshown) const;

  std::map<std::string, std::string> records_;
  std::map<Hash256, SharedBytes> blobs_;  // of an image: in the memory that its worker has handed over
  std::map<job::ThreadId, Thread> threads_;
  std::vector<job::EffectEntry> changes_;  // forks and ends, in their order
};

}  // namespace gw::node
