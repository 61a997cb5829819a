#include "job/images/blob_cache.h"

#include "base/planted_bug.h"

namespace gw::job {

std::vector<Hash256> BlobCache::add(const Hash256& hash, std::uint32_t bytes) {
  GW_ASSERT(!entries_.contains(hash));
  order_.push_back(hash);
  entries_.emplace(hash, Entry{bytes, std::prev(order_.end())});
  bytes_ += bytes;
  return trim();
}

std::optional<std::uint32_t> BlobCache::take(const Hash256& hash) {
  const auto found = entries_.find(hash);
  if (found == entries_.end()) return std::nullopt;
  const std::uint32_t bytes = found->second.bytes;
  order_.erase(found->second.place);
  entries_.erase(found);
  bytes_ -= bytes;
  ++hits_;
  hit_bytes_ += bytes;
  return bytes;
}

std::vector<Hash256> BlobCache::set_limit(std::uint64_t bytes) {
  limit_ = bytes;
  return trim();
}

std::vector<Hash256> BlobCache::trim() {
  std::vector<Hash256> leaving;
  while (!entries_.empty() && (bytes_ > limit_ || entries_.size() > config_.blobs) && !GW_BUG(92)) {
    leaving.push_back(order_.front());
    bytes_ -= entries_.at(order_.front()).bytes;
    entries_.erase(order_.front());
    order_.pop_front();
  }
  return leaving;
}

}  // namespace gw::job
