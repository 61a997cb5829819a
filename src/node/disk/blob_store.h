#pragma once
// Bytes by their hash, on disk.

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "job/actions.h"
#include "node/disk/blob_reader.h"

namespace gw::node {

// A file per blob, named by its SHA-256, written under another name and renamed: a blob is stored whole or not at all, and survives a power
// failure once store() has returned. load() checks the bytes against the name; a damaged file is removed, and the peer fetches the blob
// from another peer.
//
// Limits: a blob is at most wire::kMaxBlobBytes; job::BlobReferences limits their number. Blocks on the disk; belongs to one thread at a
// time.
class BlobStore final : public BlobReader {
 public:
  // Makes the folder if it is not there.
  static Result<BlobStore> open(const std::filesystem::path& folder);

  // All blobs are flushed together and durable on return. REQUIRES: the hashes are those of the bytes.
  Status store(std::span<const job::StoreBlob> blobs);
  // Kind::overloaded: no descriptor or memory is left to read the blob now. Any other error means that the blob is lost.
  Result<std::string> load(const Hash256& hash) override;
  bool has(const Hash256& hash) const;
  // A missing blob is not an error.
  Status drop(const Hash256& hash);
  // Removes all other files, also those that a killed process has left half written. Missing blobs count as lost.
  Status retain(std::set<Hash256> hashes);
  // Blobs that were found damaged or missing since the last call.
  std::vector<Hash256> take_lost() { return std::exchange(lost_, {}); }

 private:
  explicit BlobStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path file_of(const Hash256& hash) const;
  bool is_too_long(const Hash256& hash) const;

  std::filesystem::path folder_;
  std::vector<Hash256> lost_;
};

}  // namespace gw::node
