#include "isolate/files/input_files.h"

#include <algorithm>

namespace gw::isolate {

bool ChunkCache::contains(const Hash256& hash) const { return std::ranges::find(recent_, hash, &Entry::hash) != recent_.end(); }

Result<std::optional<std::shared_ptr<const Bytes>>> ChunkCache::chunk(const Hash256& hash, std::size_t bytes) {
  auto known = std::ranges::find(recent_, hash, &Entry::hash);
  if (known != recent_.end()) {
    std::rotate(known, known + 1, recent_.end());
  } else {
    GW_TRY(auto fetched, source_.chunk(hash));
    if (!fetched) return std::optional<std::shared_ptr<const Bytes>>();
    if (sha256(**fetched) != hash)
      return fail(Kind::corrupt, "the content of an input file has another hash than when the program was started: the file has changed");
    if (recent_.size() == kMaxChunks) recent_.pop_front();
    recent_.push_back({hash, *std::move(fetched)});
  }
  if (recent_.back().bytes->size() != bytes)
    return fail(Kind::corrupt, "a part of an input file has {} bytes, its manifest says {}", recent_.back().bytes->size(), bytes);
  return std::optional(recent_.back().bytes);
}

}  // namespace gw::isolate
