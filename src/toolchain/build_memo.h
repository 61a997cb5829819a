#pragma once
// Builds that need not ask the compiler what they depend on.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "toolchain/build_cache.h"

namespace gw::toolchain {

// Starting clang to learn which headers a source includes takes longer than a small program runs. So a build leaves a note: what it was
// asked, which files it looked at, the folders they lie in, and the key of its product. When the same is asked and none of them has changed
// by what the file system says (identity, size, times of change), the answer is the same. The folders stand for headers that are not there
// yet and would be found first.
//
// A note is only left if everything is older than the build: what changes in the same moment could look unchanged later.
class BuildMemo {
 public:
  using WallTime = std::chrono::system_clock::time_point;

  static Result<BuildMemo> open(std::filesystem::path folder);

  // `question` is everything else that decides the result.
  std::optional<Hash256> recall(const Hash256& question) const;
  // `started` is before the first of the files was read. Failing to leave a note is no error.
  void remember(const Hash256& question, const Hash256& product, const std::vector<std::filesystem::path>& files, WallTime started) const;

 private:
  explicit BuildMemo(BuildCache notes) : notes_(std::move(notes)) {}

  BuildCache notes_;
};

}  // namespace gw::toolchain
