#include "node/worker/attachment.h"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "base/check.h"
#include "job/images/new_image.h"
#include "wire/image/image.h"
#include "wire/messages/worker_frames.h"

namespace gw::node {
namespace {

// A blob that is damaged on this disk is only missing here: the module or image may be whole at another peer.
Result<std::string> read_blob(const Hash256& hash, BlobReader& blobs) {
  auto bytes = blobs.load(hash);
  if (!bytes) return fail(Kind::not_found, "{}", bytes.error().detail);
  return bytes;
}

Error too_large(std::uint64_t bytes, std::uint64_t max_bytes) {
  return fail(Kind::overloaded, "an attachment of {} MiB is larger than the {} MiB of memory that the job may use here", bytes >> 20,
              max_bytes >> 20);
}

Status check_needed(const GoOn& go_on) {
  if (go_on()) return ok();
  return fail(Kind::disconnected, "the worker is gone for which an attachment was put together");
}

// The size of the whole is known from the number of pieces and from the last one: all others have kInputChunkBytes.
Result<os::SealedMemory> join_pieces(const job::Attachment& what, std::uint64_t max_bytes, BlobReader& blobs, const GoOn& go_on) {
  if (what.blobs.empty()) return fail(Kind::corrupt, "an attachment without pieces");
  const std::uint64_t last_at = std::uint64_t{what.blobs.size() - 1} * wire::kInputChunkBytes;
  if (last_at > max_bytes) return too_large(last_at, max_bytes);
  GW_TRY(const std::string last, read_blob(what.blobs.back(), blobs));
  if (last.empty() || last.size() > wire::kInputChunkBytes) return fail(Kind::corrupt, "the last piece has none, or more than a MiB");
  if (last_at + last.size() > max_bytes) return too_large(last_at + last.size(), max_bytes);
  GW_TRY(os::UnsealedMemory whole, os::UnsealedMemory::make("pieces", last_at + last.size()));
  Sha256 hash;
  std::span<std::uint8_t> rest = whole.bytes();
  for (std::size_t i = 0; i + 1 < what.blobs.size(); ++i, rest = rest.subspan(wire::kInputChunkBytes)) {
    if (i % (kPackBytes / wire::kInputChunkBytes) == 0) GW_TRY_VOID(check_needed(go_on));
    GW_TRY(const std::string piece, read_blob(what.blobs[i], blobs));
    if (piece.size() != wire::kInputChunkBytes) return fail(Kind::corrupt, "a piece before the last one does not have one MiB");
    hash.update(as_bytes(piece));
    std::ranges::copy(piece, rest.begin());
  }
  hash.update(as_bytes(last));
  std::ranges::copy(last, rest.begin());
  if (hash.finish() != what.whole) return fail(Kind::corrupt, "the pieces do not make up {}", what.whole.hex());
  return std::move(whole).seal();
}

// Pages that are packed one after the other.
class PagePacker {
 public:
  PagePacker(std::uint64_t max_bytes, BlobReader& blobs, const GoOn& go_on) : max_bytes_(max_bytes), blobs_(blobs), go_on_(go_on) {}

  Status add(const Hash256& hash) {
    if (!packed_.insert(hash).second) return ok();
    GW_TRY(std::string bytes, read_blob(hash, blobs_));
    bytes_ += bytes.size();
    all_bytes_ += bytes.size();
    if (all_bytes_ > max_bytes_) return too_large(all_bytes_, max_bytes_);
    hashes_.push_back(hash);
    pages_.push_back(std::move(bytes));
    return bytes_ < kPackBytes ? ok() : finish();
  }

  // Makes a pack of the pages that were added since the last pack.
  Status finish() {
    GW_TRY_VOID(check_needed(go_on_));
    if (pages_.empty()) return ok();
    std::vector<wire::StoredBlob> list;
    for (std::size_t i = 0; i < pages_.size(); ++i) list.push_back({hashes_[i], wire::Storage::raw, as_bytes(pages_[i])});
    GW_TRY(os::UnsealedMemory memory, os::UnsealedMemory::make("pages", wire::BlobPack::encoded_size(list)));
    wire::BlobPack::encode(list, memory.bytes());
    GW_TRY(os::SealedMemory sealed, std::move(memory).seal());
    packs_.push_back(std::move(sealed));
    pages_.clear();
    hashes_.clear();
    bytes_ = 0;
    return ok();
  }
  std::vector<os::SealedMemory> take() { return std::move(packs_); }

 private:
  const std::uint64_t max_bytes_;  // in all packs
  BlobReader& blobs_;
  const GoOn& go_on_;
  std::unordered_set<Hash256> packed_;
  std::vector<Hash256> hashes_;
  std::vector<std::string> pages_;
  std::size_t bytes_ = 0;  // since the last pack
  std::uint64_t all_bytes_ = 0;
  std::vector<os::SealedMemory> packs_;
};

Result<std::vector<os::SealedMemory>> join_image(const job::Attachment& what, std::uint64_t max_bytes, BlobReader& blobs,
                                                 const GoOn& go_on) {
  GW_TRY_VOID(check_needed(go_on));
  GW_TRY(const wire::Image nodes, image_without_pages(what.blobs.front(), blobs));
  GW_TRY_VOID(job::check_gate(nodes, what.gate));
  PagePacker packer(max_bytes, blobs, go_on);
  for (const wire::ImagePage& page : nodes.content().pages) GW_TRY_VOID(packer.add(page.hash));
  GW_TRY_VOID(packer.finish());
  std::vector<os::SealedMemory> memories = packer.take();
  GW_TRY(os::SealedMemory first, os::SealedMemory::make("image", nodes.encoded()));
  memories.insert(memories.begin(), std::move(first));
  return memories;
}

Result<std::vector<os::SealedMemory>> alone(Result<os::SealedMemory> memory) {
  if (!memory) return memory.error();
  std::vector<os::SealedMemory> memories;
  memories.push_back(*std::move(memory));
  return memories;
}

}  // namespace

Result<wire::Image> image_without_pages(const Hash256& root, BlobReader& blobs) {
  return job::join_nodes(root, [&](const Hash256& hash) { return read_blob(hash, blobs); });
}

Result<std::vector<os::SealedMemory>> assemble(const job::Attachment& what, std::uint64_t max_bytes, BlobReader& blobs, const GoOn& go_on) {
  switch (what.form) {
    case job::Attachment::Form::given:
      return alone(os::SealedMemory::make("given", as_bytes(what.bytes)));
    case job::Attachment::Form::pieces:
      return alone(join_pieces(what, max_bytes, blobs, go_on));
    case job::Attachment::Form::image:
      GW_ASSERT(what.blobs.size() == 1);
      return join_image(what, max_bytes, blobs, go_on);
  }
  return fail(Kind::internal, "an attachment of unknown form");
}

}  // namespace gw::node
