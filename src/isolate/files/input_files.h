#pragma once
// Files of the world outside that a guest may read: a manifest, and pieces of content that are fetched by their hash.

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"

namespace gw::isolate {

inline constexpr std::uint64_t kChunkBytes = 1u << 20;

enum class NodeType : std::uint8_t { file = 0, directory = 1, symlink = 2 };

// An entry of the manifest. Paths are relative to the guest's root, without "." and "..". Folders above a path need no entry of their own.
struct InputEntry {
  std::string path;
  NodeType type = NodeType::file;
  std::uint64_t size = 0;  // of a file
  std::uint64_t mtime_ns = 0;
  std::vector<Hash256> chunks;  // of a file: SHA-256 of each kChunkBytes of it, the last one shorter
  std::string target;           // of a link
};

// Where the content of input files comes from; outlives the isolate. Called on the isolate's pool thread.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  // The bytes with this hash; none if they are not here yet: then they have been asked for. The caller checks the hash.
  virtual Result<std::optional<std::shared_ptr<const Bytes>>> chunk(const Hash256& hash) = 0;
  // The chunks that will be read next, as far as can be foreseen: the source may fetch them already.
  virtual void read_ahead(std::span<const Hash256> /*hashes*/) {}
  // Waits until a chunk that was asked for may be here, at most `timeout`. Only for guests that cannot park (level off).
  virtual void wait(std::chrono::milliseconds timeout) = 0;
};

// For guests without input files.
class NoChunks final : public ChunkSource {
 public:
  Result<std::optional<std::shared_ptr<const Bytes>>> chunk(const Hash256& hash) override {
    return fail(Kind::not_found, "the content {} of an input file is not offered here", hash.hex());
  }
  void wait(std::chrono::milliseconds) override {}
};

// The last few chunks a guest has read, whole and checked, so that reading in small steps does not fetch and hash a chunk each time.
class ChunkCache {
 public:
  static constexpr std::size_t kMaxChunks = 4;

  explicit ChunkCache(ChunkSource& source) : source_(source) {}

  // The chunks that are read next.
  void read_ahead(std::span<const Hash256> hashes) { source_.read_ahead(hashes); }
  bool contains(const Hash256& hash) const;

  // As ChunkSource::chunk(), with `bytes` of content as the manifest says. Kind::corrupt if the source has something else.
  Result<std::optional<std::shared_ptr<const Bytes>>> chunk(const Hash256& hash, std::size_t bytes);

 private:
  struct Entry {
    Hash256 hash;
    std::shared_ptr<const Bytes> bytes;  // also the source's
  };

  ChunkSource& source_;
  std::deque<Entry> recent_;  // latest last
};

}  // namespace gw::isolate
