#include "worker/chunk_store.h"

#include <algorithm>

namespace gw::worker {

Result<std::optional<std::shared_ptr<const Bytes>>> ChunkStore::chunk(const Hash256& hash) {
  std::unique_lock lock(mutex_);
  if (const auto error = errors_.find(hash); error != errors_.end()) return Error{Kind::not_found, error->second};
  if (const auto found = by_hash_.find(hash); found != by_hash_.end()) {
    chunks_.splice(chunks_.begin(), chunks_, found->second);
    return std::optional(chunks_.front().bytes);
  }
  if (!asked_.insert(hash).second) return std::optional<std::shared_ptr<const Bytes>>();
  lock.unlock();  // putting may wait
  ask(hash);
  return std::optional<std::shared_ptr<const Bytes>>();
}

void ChunkStore::ask(const Hash256& hash) {
  wire::pb::FromWorker frame;
  frame.mutable_want_chunk()->set_hash(hash.bytes.data(), hash.bytes.size());
  outgoing_.put(frame);
}

void ChunkStore::read_ahead(std::span<const Hash256> hashes) {
  std::vector<Hash256> lacking;
  {
    std::lock_guard lock(mutex_);
    for (const Hash256& hash : hashes) {
      if (asked_.size() >= kMaxAhead) break;
      if (!by_hash_.contains(hash) && !errors_.contains(hash) && asked_.insert(hash).second) lacking.push_back(hash);
    }
  }
  for (const Hash256& hash : lacking) ask(hash);
}

void ChunkStore::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, timeout, [this, before = asked_.size()] { return asked_.size() < before; });
}

Status ChunkStore::on_chunk(const wire::pb::ToWorker::Chunk& frame) {
  Hash256 hash;
  std::ranges::copy(frame.hash(), hash.bytes.begin());
  std::lock_guard lock(mutex_);
  if (asked_.erase(hash) == 0) return fail(Kind::invalid, "the chunk {} came and nobody asked for it", hash.hex());
  came_.notify_all();
  if (!frame.error().empty()) {
    if (errors_.size() >= kMaxErrors) errors_.erase(errors_.begin());
    errors_[hash] = frame.error();
    return ok();
  }
  const ByteView bytes = as_bytes(frame.bytes());
  chunks_.push_front({hash, std::make_shared<const Bytes>(bytes.begin(), bytes.end())});
  by_hash_[hash] = chunks_.begin();
  if (chunks_.size() > kMaxChunks) {
    by_hash_.erase(chunks_.back().hash);
    chunks_.pop_back();
  }
  return ok();
}

}  // namespace gw::worker
