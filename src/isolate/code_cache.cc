#include "isolate/code_cache.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "isolate/engine_fingerprint.h"
#include "isolate/page_advice.h"
#include "os/file.h"
#include "os/unique_fd.h"

namespace gw::isolate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "GWCODE02";
constexpr std::size_t kMacBytes = 32;
constexpr std::size_t kHeadBytes = 8 + 1 + 32 + 32;  // magic, kind, module, engine
constexpr std::size_t kMaxEntryBytes = 1u << 30;

Hash256 mac(ByteView key, ByteView bytes) {
  Hash256 out;
  unsigned size = 0;
  GW_ASSERT(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes.data(), bytes.size(), out.bytes.data(), &size) != nullptr);
  GW_ASSERT(size == out.bytes.size());
  return out;
}

struct Buffer {
  std::unique_ptr<std::uint8_t[]> bytes;
  std::size_t size;
  ByteView view() const { return {bytes.get(), size}; }
};

// Reads a file that must be this user's own and closed to everybody else.
Result<Buffer> read_private(const fs::path& path, std::size_t max_bytes) {
  os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return fail(Kind::not_found, "{} does not exist", path.string());
  struct stat status{};
  if (!fd || fstat(fd.get(), &status) != 0) return fail(Kind::corrupt, "{} cannot be opened: {}", path.string(), std::strerror(errno));
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    return fail(Kind::corrupt, "{} is not a private file of this user", path.string());
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) return fail(Kind::corrupt, "{} is too large", path.string());
  auto size = static_cast<std::size_t>(status.st_size);
  Buffer buffer{std::make_unique_for_overwrite<std::uint8_t[]>(size), size};
  prefer_huge_pages({buffer.bytes.get(), size});
  for (std::size_t done = 0; done < size;) {
    ssize_t count = ::read(fd.get(), buffer.bytes.get() + done, size - done);
    if (count <= 0) return fail(Kind::corrupt, "{} cannot be read", path.string());
    done += static_cast<std::size_t>(count);
  }
  return buffer;
}

// Several processes may do this at once: link() lets exactly one of them win.
Status create_key(const fs::path& path) {
  std::array<std::uint8_t, 32> key;
  if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
    return fail(Kind::internal, "the system gives no random bytes");
  fs::path draft = path;
  draft += fmt::format(".{}", getpid());
  {
    os::UniqueFd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd || ::write(fd.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size()))
      return fail(Kind::internal, "{} cannot be written: {}", draft.string(), std::strerror(errno));
  }
  int linked = ::link(draft.c_str(), path.c_str());
  int error = errno;
  ::unlink(draft.c_str());
  if (linked != 0 && error != EEXIST) return fail(Kind::internal, "{} cannot be created: {}", path.string(), std::strerror(error));
  return ok();
}

Status make_private_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) fs::permissions(path, fs::perms::owner_all, error);
  if (error) return fail(Kind::internal, "the folder {} cannot be made private: {}", path.string(), error.message());
  return ok();
}

}  // namespace

std::string_view name(CodeKind kind) { return kind == CodeKind::start ? "start" : "restore"; }

std::optional<CodeKind> parse_code_kind(std::string_view text) {
  for (CodeKind kind : {CodeKind::start, CodeKind::restore}) {
    if (text == name(kind)) return kind;
  }
  return std::nullopt;
}

CodeCache::CodeCache(fs::path root, const Key& key)
    : root_(std::move(root)), folder_(root_ / "code"), key_(key), engine_(sha256(as_bytes(engine_fingerprint()))) {}

Result<CodeCache> CodeCache::open(const fs::path& root) {
  GW_TRY_VOID(make_private_folder(root / "code"));
  Key key;
  auto found = read_private(root / "code.key", key.size());
  if (!found && found.error().kind == Kind::not_found) {
    GW_TRY_VOID(create_key(root / "code.key"));
    found = read_private(root / "code.key", key.size());
  }
  if (!found) return found.error();
  if (found->size != key.size()) return fail(Kind::corrupt, "{} is not a key of 32 bytes; delete it", (root / "code.key").string());
  std::copy_n(found->bytes.get(), key.size(), key.begin());
  return CodeCache(root, key);
}

Bytes CodeCache::head(const Hash256& module, CodeKind kind) const {
  ByteWriter writer;
  writer.bytes(as_bytes(kMagic));
  writer.u8(static_cast<std::uint8_t>(kind));
  writer.bytes(module.bytes);
  writer.bytes(engine_.bytes);
  return writer.take();
}

Result<CachedCode> CodeCache::find(const Hash256& module, CodeKind kind) const {
  const Bytes expected = head(module, kind);
  GW_TRY(Buffer entry, read_private(folder_ / sha256(expected).hex(), kMaxEntryBytes));
  if (entry.size < kHeadBytes + kMacBytes) return fail(Kind::corrupt, "the entry is too short");
  ByteView signed_part = entry.view().first(entry.size - kMacBytes);
  if (CRYPTO_memcmp(mac(key_, signed_part).bytes.data(), entry.view().last(kMacBytes).data(), kMacBytes) != 0)
    return fail(Kind::corrupt, "the entry was not written by this user on this machine");
  if (!std::ranges::equal(signed_part.first(kHeadBytes), expected))
    return fail(Kind::corrupt, "the entry is of another module, kind or engine");
  return CachedCode(std::move(entry.bytes), kHeadBytes, signed_part.size() - kHeadBytes);
}

Status CodeCache::store(const Hash256& module, CodeKind kind, ByteView native) const {
  Bytes entry = head(module, kind);
  const fs::path path = folder_ / sha256(entry).hex();
  auto append = [&](ByteView bytes) { entry.insert(entry.end(), bytes.begin(), bytes.end()); };
  append(native);
  append(mac(key_, entry).bytes);
  GW_TRY_VOID(os::write_file_atomic(path, entry));
  std::error_code error;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write, error);
  if (error) return fail(Kind::internal, "the cache entry cannot be made private: {}", error.message());
  remove_oldest();
  return ok();
}

// Errors are of no interest: another process may be tidying up too.
void CodeCache::remove_oldest() const {
  struct Entry {
    fs::path path;
    fs::file_time_type time;
    std::uint64_t bytes;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(folder_, error)) {
    entries.push_back({item.path(), item.last_write_time(error), item.file_size(error)});
    total += entries.back().bytes;
  }
  std::ranges::sort(entries, {}, &Entry::time);
  for (const Entry& entry : entries) {
    if (total <= kMaxCacheBytes) return;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}

}  // namespace gw::isolate
