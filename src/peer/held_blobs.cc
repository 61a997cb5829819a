#include "peer/held_blobs.h"

namespace gw::peer {

using job::JobId;

void HeldBlobs::adopt(const JobId& job, const Hash256& hash) {
  blobs_.adopt(hash, job);
  blobs_.set_cached(hash);
  held_[job].push_back(hash);
}

void HeldBlobs::put(const JobId& job, const Hash256& hash, std::string bytes, job::Actions& out) {
  blobs_.put({hash, std::move(bytes)}, job, out);
  held_[job].push_back(hash);
}

void HeldBlobs::release(const JobId& job, job::Actions& out) {
  const auto held = held_.extract(job);
  if (held.empty()) return;
  for (const Hash256& hash : held.mapped()) blobs_.release(hash, job, out);
}

job::HomeBlobs HeldBlobs::access() {
  return {.has = [this](const Hash256& hash) { return blobs_.has(hash); },
          .put =
              [this](const JobId& job, const Hash256& hash, std::string bytes, job::Actions& out) {
                put(job, hash, std::move(bytes), out);
                blobs_.set_cached(hash);  // hosts get it from each other
              },
          .adopt = [this](const JobId& job, const Hash256& hash) { adopt(job, hash); }};
}

}  // namespace gw::peer
