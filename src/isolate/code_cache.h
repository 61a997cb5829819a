#pragma once
// Native code of compiled modules, kept on disk.

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/bytes.h"
#include "base/hash.h"

namespace gw::isolate {

// An entry of the cache as it was read: the code is a part of it, not moved, because a copy of megabytes would cost more than all else.
class CachedCode {
 public:
  CachedCode(std::unique_ptr<std::uint8_t[]> entry, std::size_t offset, std::size_t size)
      : entry_(std::move(entry)), offset_(offset), size_(size) {}
  ByteView code() const { return {entry_.get() + offset_, size_}; }

 private:
  std::unique_ptr<std::uint8_t[]> entry_;
  std::size_t offset_, size_;
};

// Entries are executed as they are, so whoever can write one owns the process that reads it. Therefore an entry is taken only if
//  - it is a regular file of this user that nobody else may touch,
//  - its HMAC is right under a random key that lies beside the cache, readable by this user alone,
//  - it names this module, this engine with these flags, and a processor with these features.
// And it is written only by a process that compiles and never runs a guest (compile_main.h).
//
// Files: <root>/code.key and <root>/code/<hash of module and engine>. At most kMaxCacheBytes, the oldest go first. Any thread or process.
class CodeCache {
 public:
  static constexpr std::uint64_t kMaxCacheBytes = 1ull << 30;

  // Creates folder and key if they are not there.
  static Result<CodeCache> open(const std::filesystem::path& root);

  // Kind::not_found: no entry. Kind::corrupt: there is one, and it is not to be trusted.
  Result<CachedCode> find(const Hash256& module) const;
  Status store(const Hash256& module, ByteView native) const;

  const std::filesystem::path& root() const { return root_; }

 private:
  using Key = std::array<std::uint8_t, 32>;

  CodeCache(std::filesystem::path root, const Key& key);
  Bytes head(const Hash256& module) const;
  std::filesystem::path path_of(const Hash256& module) const;
  void remove_oldest() const;

  std::filesystem::path root_, folder_;
  Key key_;
  Hash256 engine_;  // of its fingerprint
};

}  // namespace gw::isolate
