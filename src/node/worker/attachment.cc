#include "node/worker/attachment.h"

#include <deque>
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

Result<Bytes> join_pieces(const job::Attachment& what, BlobReader& blobs) {
  Bytes whole;
  for (const Hash256& hash : what.blobs) {
    GW_TRY(const std::string piece, read_blob(hash, blobs));
    if (piece.size() > wire::kInputChunkBytes) return fail(Kind::corrupt, "a piece has more than a MiB");
    whole.insert(whole.end(), piece.begin(), piece.end());
  }
  if (sha256(whole) != what.whole) return fail(Kind::corrupt, "the pieces do not make up {}", what.whole.hex());
  return whole;
}

// Pages that are packed one after the other.
class PagePacker {
 public:
  explicit PagePacker(BlobReader& blobs) : blobs_(blobs) {}

  Status add(const Hash256& hash) {
    if (!packed_.insert(hash).second) return ok();
    GW_TRY(std::string bytes, read_blob(hash, blobs_));
    bytes_ += bytes.size();
    hashes_.push_back(hash);
    pages_.push_back(std::move(bytes));
    return bytes_ < kPackBytes ? ok() : finish();
  }

  // Makes a pack of the pages that were added since the last pack.
  Status finish() {
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
  BlobReader& blobs_;
  std::unordered_set<Hash256> packed_;
  std::vector<Hash256> hashes_;
  std::vector<std::string> pages_;
  std::size_t bytes_ = 0;
  std::vector<os::SealedMemory> packs_;
};

Result<std::vector<os::SealedMemory>> join_image(const job::Attachment& what, BlobReader& blobs) {
  GW_TRY(const wire::Image nodes, job::join_nodes(what.blobs.front(), [&](const Hash256& hash) { return read_blob(hash, blobs); }));
  GW_TRY_VOID(job::check_gate(nodes, what.gate));
  PagePacker packer(blobs);
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

Result<wire::Image> whole_image(const Hash256& root, BlobReader& blobs) {
  GW_TRY(const wire::Image nodes, job::join_nodes(root, [&](const Hash256& hash) { return read_blob(hash, blobs); }));
  wire::ImageContent content = nodes.content();
  std::deque<std::string> pages;  // what the content points to
  for (wire::ImagePage& page : content.pages) {
    GW_TRY(std::string bytes, read_blob(page.hash, blobs));
    page.storage = wire::Storage::raw;
    page.stored = as_bytes(pages.emplace_back(std::move(bytes)));
  }
  return wire::Image::encode(content);
}

Result<std::vector<os::SealedMemory>> assemble(const job::Attachment& what, BlobReader& blobs) {
  switch (what.form) {
    case job::Attachment::Form::given:
      return alone(os::SealedMemory::make("given", as_bytes(what.bytes)));
    case job::Attachment::Form::pieces: {
      GW_TRY(const Bytes bytes, join_pieces(what, blobs));
      return alone(os::SealedMemory::make("pieces", bytes));
    }
    case job::Attachment::Form::image:
      GW_ASSERT(what.blobs.size() == 1);
      return join_image(what, blobs);
  }
  return fail(Kind::internal, "an assembly of no known form");
}

}  // namespace gw::node
