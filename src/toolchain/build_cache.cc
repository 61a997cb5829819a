#include "toolchain/build_cache.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include "os/files/file.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashBytes = sizeof(Hash256::bytes);
constexpr std::size_t kMaxEntryBytes = 1u << 30;

bool is_intact(ByteView entry) {
  if (entry.size() < kHashBytes) return false;
  const Hash256 actual = sha256(entry.subspan(kHashBytes));
  return std::equal(actual.bytes.begin(), actual.bytes.end(), entry.begin());
}

struct Entry {
  fs::path path;
  fs::file_time_type used;
  std::uintmax_t bytes;
};

// Files that vanish while we look belong to another process that trims.
std::vector<Entry> entries_of(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    Entry entry{it->path(), it->last_write_time(gone), 0};
    if (!gone) entry.bytes = it->file_size(gone);
    if (!gone) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

Result<BuildCache> BuildCache::open(fs::path folder, std::uintmax_t limit_bytes) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(Kind::internal, "cannot create the build cache {}: {}", folder.string(), error.message());
  return BuildCache(std::move(folder), limit_bytes);
}

Result<BuildCache> BuildCache::open_default() {
  GW_TRY(std::filesystem::path root, os::cache_dir());
  return open(root / "build");
}

std::optional<Bytes> BuildCache::find(const Hash256& key) const {
  const fs::path path = path_of(key);
  auto entry = os::read_file(path, kMaxEntryBytes);
  if (!entry) return std::nullopt;
  std::error_code ignored;  // an entry that cannot be removed or marked as used is only found again, or trimmed early
  if (!is_intact(*entry)) {
    fs::remove(path, ignored);
    return std::nullopt;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return Bytes(entry->begin() + kHashBytes, entry->end());
}

Status BuildCache::store(const Hash256& key, ByteView content) const {
  ByteWriter entry;
  entry.bytes(sha256(content).bytes);
  entry.bytes(content);
  GW_TRY_VOID(os::write_file_atomic(path_of(key), entry.view(), os::Durability::unflushed));
  trim();
  return ok();
}

void BuildCache::trim() const {
  std::vector<Entry> entries = entries_of(folder_);
  std::uintmax_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  if (total <= limit_bytes_) return;
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= limit_bytes_) break;
    std::error_code ignored;
    fs::remove(entry.path, ignored);
    total -= entry.bytes;
  }
}

}  // namespace gw::toolchain
