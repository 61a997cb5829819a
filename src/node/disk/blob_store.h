#pragma once
// Bytes by their hash, on disk.

#include <filesystem>
#include <set>
#include <span>
#include <string>

#include "base/hash.h"
#include "job/actions.h"

namespace gw::node {

// One file for each blob, named by its SHA-256, written beside and renamed: a blob is there whole or not at all, and what store() has
// returned from survives a power failure. What is read is checked
// against its name, so a damaged file is never believed; it is removed, and the peer gets the blob from somebody else.
//
// Limits: a blob is at most wire::kMaxBlobBytes; how many there are is the business of job::BlobReferences. Blocks on the disk; belongs to
// one thread at a time.
class BlobStore {
 public:
  // Makes the folder if it is not there.
  static Result<BlobStore> open(const std::filesystem::path& folder);

  // All are on the medium when it returns; flushed together. REQUIRES: the hashes are those of the bytes.
  Status store(std::span<const job::StoreBlob> blobs);
  // Kind::not_found, Kind::corrupt.
  Result<std::string> load(const Hash256& hash);
  bool has(const Hash256& hash) const;
  // One that is not there is no error.
  Status drop(const Hash256& hash);
  // Removes everything else, also what a killed process has left half written.
  Status retain(const std::set<Hash256>& hashes);

 private:
  explicit BlobStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path file_of(const Hash256& hash) const;

  std::filesystem::path folder_;
};

}  // namespace gw::node
