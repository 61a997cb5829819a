#pragma once
// Blobs that users have uploaded for a job they are about to submit.

#include <map>

#include "job/actions.h"
#include "job/images/blob_references.h"

namespace gw::peer {

// Holds each blob for a limited time, so that it is here when its job is submitted; an accepted job holds its blobs itself. Uploads do not
// survive a restart.
//
// Limits: Config. A machine without I/O or threads.
class Uploads {
 public:
  struct Config {
    job::Time keep = std::chrono::hours(1);
    std::size_t blobs = 1u << 19;  // a job with the most pieces of inputs, and another one
  };
  Uploads(Config config, job::BlobReferences& blobs) : config_(config), blobs_(blobs) {}

  // The error for a request while the disk is full; `what` is refused.
  static Error no_room(std::string_view what);

  // Answered by BlobUploaded when the blob is on disk, or by BlobRefused. REQUIRES: the hash is that of the bytes.
  void add(job::Time now, job::Blob blob, job::Actions& out);
  // Kind::not_found: one of the blobs of a job is not stored here.
  Status check_stored(const std::vector<Hash256>& blobs) const;
  void on_stored(const Hash256& hash, job::Actions& out);
  void on_tick(job::Time now, job::Actions& out);
  job::Time next_deadline() const;

 private:
  struct Upload {
    job::Time until;
    bool announced = false;
  };

  void announce(const Hash256& hash, Upload& upload, job::Actions& out);

  const Config config_;
  job::BlobReferences& blobs_;
  std::map<Hash256, Upload> uploads_;
  job::Time look_at_ = job::kNever;  // no upload expires before
};

}  // namespace gw::peer
