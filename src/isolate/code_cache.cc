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

#include "isolate/wasm_engine.h"
#include "os/file.h"
#include "os/unique_fd.h"

namespace gw::isolate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "GWCODE01";
constexpr std::size_t kMacBytes = 32;
constexpr std::size_t kHeadBytes = 8 + 32 + 32;  // magic, module, engine
constexpr std::size_t kMaxEntryBytes = 1u << 30;

Hash256 engine_hash() { return sha256(as_bytes(wasm_engine_fingerprint())); }

Hash256 mac(ByteView key, ByteView bytes) {
  Hash256 out;
  unsigned size = 0;
  GW_ASSERT(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes.data(), bytes.size(), out.bytes.data(), &size) != nullptr);
  GW_ASSERT(size == out.bytes.size());
  return out;
}

// Reads a file that must be this user's own and closed to everybody else.
Result<Bytes> read_private(const fs::path& path, std::size_t max_bytes) {
  os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return fail(Kind::not_found, "{} does not exist", path.string());
  struct stat status{};
  if (!fd || fstat(fd.get(), &status) != 0) return fail(Kind::corrupt, "{} cannot be opened: {}", path.string(), std::strerror(errno));
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    return fail(Kind::corrupt, "{} is not a private file of this user", path.string());
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) return fail(Kind::corrupt, "{} is too large", path.string());
  Bytes bytes(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    ssize_t count = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
    if (count <= 0) return fail(Kind::corrupt, "{} cannot be read", path.string());
    done += static_cast<std::size_t>(count);
  }
  return bytes;
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

Result<CodeCache> CodeCache::open(const fs::path& root) {
  GW_TRY_VOID(make_private_folder(root / "code"));
  auto bytes = read_private(root / "code.key", 32);
  if (!bytes && bytes.error().kind == Kind::not_found) {
    GW_TRY_VOID(create_key(root / "code.key"));
    bytes = read_private(root / "code.key", 32);
  }
  if (!bytes) return bytes.error();
  Key key;
  if (bytes->size() != key.size()) return fail(Kind::corrupt, "{} is not a key of 32 bytes; delete it", (root / "code.key").string());
  std::copy(bytes->begin(), bytes->end(), key.begin());
  return CodeCache(root / "code", key);
}

fs::path CodeCache::path_of(const Hash256& module) const {
  Sha256 name;
  name.update(module.bytes);
  name.update(engine_hash().bytes);
  return folder_ / name.finish().hex();
}

Result<Bytes> CodeCache::find(const Hash256& module) const {
  GW_TRY(Bytes entry, read_private(path_of(module), kMaxEntryBytes));
  if (entry.size() < kHeadBytes + kMacBytes) return fail(Kind::corrupt, "the entry is too short");
  ByteView signed_part = ByteView(entry).first(entry.size() - kMacBytes);
  if (CRYPTO_memcmp(mac(key_, signed_part).bytes.data(), entry.data() + signed_part.size(), kMacBytes) != 0)
    return fail(Kind::corrupt, "the entry was not written by this user on this machine");
  Hash256 engine = engine_hash();
  bool ours = std::memcmp(entry.data(), kMagic.data(), 8) == 0 && std::memcmp(entry.data() + 8, module.bytes.data(), 32) == 0 &&
              std::memcmp(entry.data() + 40, engine.bytes.data(), 32) == 0;
  if (!ours) return fail(Kind::corrupt, "the entry is of another module or engine");
  entry.resize(signed_part.size());
  entry.erase(entry.begin(), entry.begin() + kHeadBytes);
  return entry;
}

Status CodeCache::store(const Hash256& module, ByteView native) const {
  Bytes entry;
  entry.reserve(kHeadBytes + native.size() + kMacBytes);
  auto append = [&](ByteView bytes) { entry.insert(entry.end(), bytes.begin(), bytes.end()); };
  append(as_bytes(kMagic));
  append(module.bytes);
  append(engine_hash().bytes);
  append(native);
  append(mac(key_, entry).bytes);
  GW_TRY_VOID(os::write_file_atomic(path_of(module), entry));
  std::error_code error;
  fs::permissions(path_of(module), fs::perms::owner_read | fs::perms::owner_write, error);
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
