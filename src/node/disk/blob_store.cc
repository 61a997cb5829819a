#include "node/disk/blob_store.h"

#include <algorithm>

#include "os/files/file.h"
#include "wire/messages/peer_messages.h"

namespace gw::node {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFolderDigits = 2;  // 256 folders: few file systems like a million files in one

// True: the file was new.
Result<bool> made(const fs::path& folder) {
  std::error_code failure;
  const bool created = fs::create_directories(folder, failure);
  if (failure) return fail(Kind::invalid, "cannot make the folder {}: {}", folder.string(), failure.message());
  return created;
}

// The hash that a file of the store stands for; none: the file is not a blob.
std::optional<Hash256> name_of(const fs::path& file) {
  auto hash = parse_hash(file.parent_path().filename().string() + file.filename().string());
  return hash ? std::optional(*hash) : std::nullopt;
}

}  // namespace

Result<BlobStore> BlobStore::open(const fs::path& folder) {
  GW_TRY(bool created, made(folder));
  if (created) GW_TRY_VOID(os::flush_folder(folder.parent_path()));
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char high : kDigits) {
    for (const char low : kDigits) {
      GW_TRY(const bool fresh, made(folder / std::string{high, low}));
      created |= fresh;
    }
  }
  if (created) GW_TRY_VOID(os::flush_folder(folder));
  return BlobStore(folder);
}

fs::path BlobStore::file_of(const Hash256& hash) const {
  const std::string name = hash.hex();
  return folder_ / name.substr(0, kFolderDigits) / name.substr(kFolderDigits);
}

Status BlobStore::store(std::span<const job::StoreBlob> blobs) {
  while (!blobs.empty()) {
    const std::size_t count = std::min(blobs.size(), os::FileGroup::kMaxFiles);
    os::FileGroup group;
    for (const job::StoreBlob& blob : blobs.first(count)) GW_TRY_VOID(group.add(file_of(blob.hash), blob.bytes.view()));
    GW_TRY_VOID(group.commit());
    blobs = blobs.subspan(count);
  }
  return ok();
}

Result<std::string> BlobStore::load(const Hash256& hash) {
  const auto bytes = os::read_file(file_of(hash), wire::kMaxBlobBytes);
  if (bytes && sha256(*bytes) == hash) return std::string(as_text(*bytes));
  if (!bytes && bytes.error().kind == Kind::overloaded && !is_too_long(hash))
    return fail(Kind::overloaded, "blob {} cannot be read now: {}", hash.hex(), bytes.error().detail);
  lost_.push_back(hash);
  if (!bytes && bytes.error().kind != Kind::overloaded)
    return fail(bytes.error().kind, "blob {} cannot be read: {}", hash.hex(), bytes.error().detail);
  (void)drop(hash);
  return fail(Kind::corrupt, "blob {} was damaged on this disk and has been removed", hash.hex());
}

bool BlobStore::is_too_long(const Hash256& hash) const {
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(file_of(hash), failure);
  return !failure && size > wire::kMaxBlobBytes;
}

bool BlobStore::has(const Hash256& hash) const {
  std::error_code failure;
  return fs::is_regular_file(file_of(hash), failure);
}

Status BlobStore::drop(const Hash256& hash) {
  std::error_code failure;
  fs::remove(file_of(hash), failure);
  if (failure) return fail(Kind::internal, "cannot remove blob {}: {}", hash.hex(), failure.message());
  return ok();
}

Status BlobStore::retain(std::set<Hash256> hashes) {
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(folder_, failure), end; !failure && entry != end; entry.increment(failure)) {
    if (!entry->is_regular_file(failure)) continue;
    const auto hash = name_of(entry->path());
    if (!hash || hashes.erase(*hash) == 0) fs::remove(entry->path(), failure);
  }
  if (failure) return fail(Kind::internal, "cannot clear {}: {}", folder_.string(), failure.message());
  lost_.insert(lost_.end(), hashes.begin(), hashes.end());
  return ok();
}

}  // namespace gw::node
