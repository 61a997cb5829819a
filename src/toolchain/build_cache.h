#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/hash.h"

namespace gw::toolchain {

// Results of builds on disk, one file per key, each behind the hash of its content: a damaged file is removed and counts as absent.
// Bounded: when a new entry makes the folder larger than the limit, the entries used least recently go. Any number of processes may use one
// folder at once; a file is written atomically, and removing one that another process removed too is no error.
class BuildCache {
 public:
  static constexpr std::uintmax_t kDefaultLimit = std::uintmax_t{1} << 30;

  // Creates the folder if it is missing.
  static Result<BuildCache> open(std::filesystem::path folder, std::uintmax_t limit_bytes = kDefaultLimit);

  // In the cache folder of the user.
  static Result<BuildCache> open_default();

  std::optional<Bytes> find(const Hash256& key) const;
  Status store(const Hash256& key, ByteView content) const;

 private:
  BuildCache(std::filesystem::path folder, std::uintmax_t limit_bytes) : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  std::filesystem::path path_of(const Hash256& key) const { return folder_ / key.hex(); }
  void trim() const;

  std::filesystem::path folder_;
  std::uintmax_t limit_bytes_;
};

}  // namespace gw::toolchain
