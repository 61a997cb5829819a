#pragma once
// The interface for reading blobs.

#include <string>

#include "base/hash.h"
#include "base/result.h"

namespace gw::node {

class BlobReader {
 public:
  virtual ~BlobReader() = default;
  // The bytes, checked against the hash. Kind::not_found, Kind::corrupt.
  virtual Result<std::string> load(const Hash256& hash) = 0;
};

}  // namespace gw::node
