#include "node/worker/attachment.h"

#include "job/image_manifest.h"
#include "wire/image.h"

namespace gw::node {
namespace {

Result<Bytes> join_pieces(const job::Attachment& what, BlobStore& blobs) {
  Bytes whole;
  for (const Hash256& hash : what.blobs) {
    GW_TRY(const std::string piece, blobs.load(hash));
    if (whole.size() + piece.size() > wire::kMaxModuleBytes) return fail(Kind::overloaded, "the pieces are longer than a module may be");
    whole.insert(whole.end(), piece.begin(), piece.end());
  }
  if (sha256(whole) != what.whole) return fail(Kind::corrupt, "the pieces do not make up {}", what.whole.hex());
  return whole;
}

Result<Bytes> join_pages(const job::Attachment& what, BlobStore& blobs) {
  GW_ASSERT(what.blobs.size() == 1);
  GW_TRY(const std::string parts, blobs.load(what.blobs.front()));
  GW_TRY(const std::vector<Hash256> hashes, job::page_blobs(parts));
  std::vector<std::string> pages;
  pages.reserve(hashes.size());
  for (const Hash256& hash : hashes) {
    GW_TRY(std::string page, blobs.load(hash));
    pages.push_back(std::move(page));
  }
  return job::join_image(parts, pages);
}

}  // namespace

Result<os::SealedMemory> assemble(const job::Attachment& what, BlobStore& blobs) {
  switch (what.form) {
    case job::Attachment::Form::given:
      return os::SealedMemory::make("given", as_bytes(what.bytes));
    case job::Attachment::Form::pieces: {
      GW_TRY(const Bytes bytes, join_pieces(what, blobs));
      return os::SealedMemory::make("pieces", bytes);
    }
    case job::Attachment::Form::image: {
      GW_TRY(const Bytes bytes, join_pages(what, blobs));
      return os::SealedMemory::make("image", bytes);
    }
  }
  return fail(Kind::internal, "an assembly of no known form");
}

}  // namespace gw::node
