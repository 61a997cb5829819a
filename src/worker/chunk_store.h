#pragma once
// Content of input files, by hash, for all threads of the worker.

#include <condition_variable>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "isolate/files/input_files.h"
#include "worker/outgoing_frames.h"

namespace gw::worker {

// Asks the parent for the chunks that a guest wants to read, once, and keeps the chunks used last. A chunk that was dropped before its
// reader came is asked for again. A chunk that cannot be had is remembered as an error.
class ChunkStore final : public isolate::ChunkSource {
 public:
  static constexpr std::size_t kMaxChunks = 64;
  static constexpr std::size_t kMaxErrors = 1024;
  static constexpr std::size_t kMaxAhead = 16;  // chunks on their way, beyond which none is fetched before it is needed

  explicit ChunkStore(OutgoingFrames& outgoing) : outgoing_(outgoing) {}

  // Pool threads.
  Result<std::optional<std::shared_ptr<const Bytes>>> chunk(const Hash256& hash) override;
  void read_ahead(std::span<const Hash256> hashes) override;
  void wait(std::chrono::milliseconds timeout) override;

  // Called by the loop. Kind::invalid if no reader asked for the chunk. The readers check the hash.
  Status on_chunk(const wire::pb::ToWorker::Chunk& frame);

 private:
  void ask(const Hash256& hash);

  struct Entry {
    Hash256 hash;
    std::shared_ptr<const Bytes> bytes;  // also the readers'
  };

  OutgoingFrames& outgoing_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::list<Entry> chunks_;  // guarded by mutex_, like all below; used last comes first
  std::map<Hash256, std::list<Entry>::iterator> by_hash_;
  std::map<Hash256, std::string> errors_;
  std::set<Hash256> asked_;
};

}  // namespace gw::worker
