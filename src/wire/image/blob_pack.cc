#include "wire/image/blob_pack.h"

#include <algorithm>

#include "base/check.h"

namespace gw::wire {
namespace {

constexpr std::array<std::uint8_t, 8> kPackMagic = {'G', 'W', 'P', 'A', 'C', 'K', 0, 1};
constexpr std::size_t kPackHeadBytes = kPackMagic.size() + 4;
constexpr std::size_t kPackEntryBytes = sizeof(Hash256) + 1 + 4;

Error damaged_pack(std::string_view what) { return fail(Kind::corrupt, "a pack of blobs is damaged: {}; use another copy", what); }

}  // namespace

BlobPack::BlobPack(std::vector<StoredBlob> blobs, std::shared_ptr<const void> owner) {
  auto content = std::make_shared<Content>(Content{std::move(blobs), {}, std::move(owner)});
  content->places.reserve(content->blobs.size());
  for (std::uint32_t i = 0; i < content->blobs.size(); ++i) content->places.emplace(content->blobs[i].hash, i);
  content_ = std::move(content);
}

const StoredBlob* BlobPack::find(const Hash256& hash) const {
  const auto found = content_->places.find(hash);
  return found == content_->places.end() ? nullptr : &content_->blobs[found->second];
}

std::size_t BlobPack::encoded_size(std::span<const StoredBlob> blobs) {
  std::size_t size = kPackHeadBytes + kPackEntryBytes * blobs.size();
  for (const StoredBlob& blob : blobs) size += blob.stored.size();
  return size;
}

void BlobPack::encode(std::span<const StoredBlob> blobs, std::span<std::uint8_t> out) {
  GW_ASSERT(out.size() == encoded_size(blobs) && blobs.size() <= kMaxBlobs);
  ByteWriter table;
  table.bytes(kPackMagic);
  table.u32(static_cast<std::uint32_t>(blobs.size()));
  for (const StoredBlob& blob : blobs) {
    table.bytes(blob.hash.bytes);
    table.u8(static_cast<std::uint8_t>(blob.storage));
    table.u32(static_cast<std::uint32_t>(blob.stored.size()));
  }
  auto at = std::ranges::copy(table.view(), out.begin()).out;
  for (const StoredBlob& blob : blobs) at = std::ranges::copy(blob.stored, at).out;
}

Result<BlobPack> BlobPack::decode(ByteView bytes, std::shared_ptr<const void> owner) {
  ByteReader reader(bytes);
  const auto magic = reader.bytes(kPackMagic.size());
  if (!magic || !std::ranges::equal(*magic, kPackMagic)) return damaged_pack("it is none");
  GW_TRY(const std::uint32_t count, reader.u32());
  if (count > kMaxBlobs || count > reader.remaining() / kPackEntryBytes) return damaged_pack("it has more entries than bytes");
  GW_TRY(const ByteView table, reader.bytes(count * kPackEntryBytes));
  ByteReader entries(table);
  std::vector<StoredBlob> blobs(count);
  for (StoredBlob& blob : blobs) {
    GW_TRY(const ByteView hash, entries.bytes(sizeof(Hash256)));
    std::ranges::copy(hash, blob.hash.bytes.begin());
    GW_TRY(const std::uint8_t storage, entries.u8());
    if (storage != static_cast<std::uint8_t>(Storage::raw) && storage != static_cast<std::uint8_t>(Storage::zstd))
      return damaged_pack("a blob has an unknown storage");
    blob.storage = static_cast<Storage>(storage);
    GW_TRY(const std::uint32_t size, entries.u32());
    if (size == 0) return damaged_pack("a blob is empty");
    GW_TRY(blob.stored, reader.bytes(size));
  }
  if (!reader.at_end()) return damaged_pack("it has bytes that belong to nothing");
  BlobPack pack(std::move(blobs), std::move(owner));
  if (pack.content_->places.size() != count) return damaged_pack("a blob is there twice");
  return pack;
}

}  // namespace gw::wire
