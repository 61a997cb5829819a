#pragma once
// Blobs one after the other, with a table of their hashes before them: what an image file and the pieces for a restore carry.

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"

namespace gw::wire {

// Where the bytes of a blob are: not here but to be found by their hash, or here, plain or compressed.
enum class Storage : std::uint8_t { elsewhere = 0, raw = 1, zstd = 2 };

struct StoredBlob {
  Hash256 hash;  // of the plain bytes
  Storage storage = Storage::raw;
  ByteView stored;
};

// A pack that was read; its views live as long as a copy of it does. Each hash is there once, nothing is elsewhere. Whether the bytes are
// those of the hash is not checked. A value; copies share everything.
class BlobPack {
 public:
  static constexpr std::size_t kMaxBlobs = 1u << 21;

  BlobPack() : BlobPack({}, nullptr) {}

  static std::size_t encoded_size(std::span<const StoredBlob> blobs);
  // REQUIRES: `out` has encoded_size() bytes; each hash is there once.
  static void encode(std::span<const StoredBlob> blobs, std::span<std::uint8_t> out);
  // Without a copy: the bytes stay as they are as long as `owner` is there. Kind::corrupt.
  static Result<BlobPack> decode(ByteView bytes, std::shared_ptr<const void> owner);

  const std::vector<StoredBlob>& blobs() const { return content_->blobs; }
  // nullptr: it is not here.
  const StoredBlob* find(const Hash256& hash) const;

 private:
  struct Content {
    std::vector<StoredBlob> blobs;
    std::unordered_map<Hash256, std::uint32_t> places;
    std::shared_ptr<const void> owner;
  };
  BlobPack(std::vector<StoredBlob> blobs, std::shared_ptr<const void> owner);

  std::shared_ptr<const Content> content_;
};

}  // namespace gw::wire
