#pragma once
// Blobs that no job needs any more and that stay on the disk for the next one.

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "job/names.h"

namespace gw::job {

// Blobs by hash, the least recently used first out. Only code and inputs of jobs: images are not needed again.
//
// Invariant: the sizes of its blobs add up to bytes(), at most the limit. Costs: O(log blobs). Limits: Config and set_limit(). A value
// without threads.
class BlobCache {
 public:
  struct Config {
    std::uint64_t bytes = std::uint64_t{1} << 30;
    std::size_t blobs = 1u << 16;
  };
  explicit BlobCache(const Config& config) : config_(config), limit_(config.bytes) {}

  // Returns the blobs that have to leave; `hash` itself if it is too large. REQUIRES: it is not in here.
  std::vector<Hash256> add(const Hash256& hash, std::uint32_t bytes);
  // Removes the blob, because a job needs it. Returns its size.
  std::optional<std::uint32_t> take(const Hash256& hash);
  bool contains(const Hash256& hash) const { return entries_.contains(hash); }
  // Returns the blobs that have to leave. 0: nothing stays.
  std::vector<Hash256> set_limit(std::uint64_t bytes);

  std::uint64_t limit() const { return limit_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t blobs() const { return entries_.size(); }
  std::uint64_t hits() const { return hits_; }
  std::uint64_t hit_bytes() const { return hit_bytes_; }

 private:
  struct Entry {
    std::uint32_t bytes;
    std::list<Hash256>::iterator place;  // in order_
  };

  std::vector<Hash256> trim();

  const Config config_;
  std::uint64_t limit_;
  std::map<Hash256, Entry> entries_;
  std::list<Hash256> order_;  // the longest unused first
  std::uint64_t bytes_ = 0;
  std::uint64_t hits_ = 0;  // since the start: blobs that were not fetched again
  std::uint64_t hit_bytes_ = 0;
};

}  // namespace gw::job
