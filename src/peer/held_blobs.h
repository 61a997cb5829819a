#pragma once
// The blobs that this peer holds as the home of jobs.

#include <map>
#include <vector>

#include "job/home/home.h"
#include "job/images/blob_references.h"

namespace gw::peer {

// The manifest, code and inputs of each job, and the files that its tasks have left for others: one need of the job for each, until
// release(). Costs: O(1) each, but for release(). Limits: those of the jobs. A value without threads.
class HeldBlobs {
 public:
  explicit HeldBlobs(job::BlobReferences& blobs) : blobs_(blobs) {}

  // Code or an input that is here.
  void adopt(const job::JobId& job, const Hash256& hash);
  void put(const job::JobId& job, const Hash256& hash, std::string bytes, job::Actions& out);
  void release(const job::JobId& job, job::Actions& out);
  // For homes, which outlive neither this nor the blobs.
  job::HomeBlobs access();

 private:
  job::BlobReferences& blobs_;
  std::map<job::JobId, std::vector<Hash256>> held_;
};

}  // namespace gw::peer
