#pragma once
// The interface for reading blobs.

#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "base/shared_bytes.h"

namespace gw::node {

class BlobReader {
 public:
  virtual ~BlobReader() = default;
  // The bytes, checked against the hash. Kind::not_found, Kind::corrupt.
  virtual Result<std::string> load(const Hash256& hash) = 0;
  // The same; without a copy where the store has the bytes in memory.
  virtual Result<SharedBytes> view(const Hash256& hash) {
    GW_TRY(std::string bytes, load(hash));
    return SharedBytes(std::move(bytes));
  }
};

}  // namespace gw::node
