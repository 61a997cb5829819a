#include "isolate/engine/code_cache.h"

#include <fcntl.h>
#include <openssl/aes.h>
#include <openssl/crypto.h>
#include <openssl/modes.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "isolate/engine/engine_fingerprint.h"
#include "os/files/file.h"
#include "os/files/unique_fd.h"

namespace gw::isolate {
namespace {

namespace fs = std::filesystem;

using Nonce = std::array<std::uint8_t, 12>;
using Tag = std::array<std::uint8_t, 16>;

constexpr std::string_view kMagic = "GWCODE04";
constexpr std::size_t kMaxEntryBytes = 1u << 30;

// The bytes after the code of an entry, as on disk.
struct Tail {
  std::array<std::uint8_t, 8 + 1 + 32 + 32> name;  // magic, kind, module, engine
  Nonce nonce;
  Tag tag;  // of the code and the name
};
static_assert(std::has_unique_object_representations_v<Tail>);

Status fill_randomly(std::span<std::uint8_t> bytes) {
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail(Kind::internal, "the system gives no random bytes");
  return ok();
}

// AES-256-GMAC, a quarter of the work of an HMAC. No nonce may be used twice with a key. By OpenSSL's functions below its providers, of
// which it disapproves: looking up one of those takes five times as long, once in each process, as the tag of a megabyte.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
Tag tag_of(const std::array<std::uint8_t, 32>& key, const Nonce& nonce, ByteView code, ByteView name) {
  struct Release {
    void operator()(GCM128_CONTEXT* context) const { CRYPTO_gcm128_release(context); }
  };
  const auto encrypt = [](const unsigned char* in, unsigned char* out, const void* schedule) {
    AES_encrypt(in, out, static_cast<const AES_KEY*>(schedule));
  };
  AES_KEY schedule;
  GW_ASSERT(AES_set_encrypt_key(key.data(), 8 * static_cast<int>(key.size()), &schedule) == 0);
  const std::unique_ptr<GCM128_CONTEXT, Release> context(CRYPTO_gcm128_new(&schedule, encrypt));
  GW_ASSERT(context != nullptr);
  CRYPTO_gcm128_setiv(context.get(), nonce.data(), nonce.size());
  for (const ByteView part : {code, name}) GW_ASSERT(CRYPTO_gcm128_aad(context.get(), part.data(), part.size()) == 0);
  Tag tag;
  CRYPTO_gcm128_tag(context.get(), tag.data(), tag.size());
  OPENSSL_cleanse(&schedule, sizeof schedule);
  return tag;
}
#pragma clang diagnostic pop

struct PrivateFile {
  os::UniqueFd fd;
  std::size_t bytes;
};

// Opens a file that must belong to this user and be inaccessible to others.
Result<PrivateFile> open_private(const fs::path& path, std::size_t max_bytes) {
  os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return fail(Kind::not_found, "{} does not exist", path.string());
  struct stat status{};
  if (!fd || fstat(fd.get(), &status) != 0) return fail(Kind::corrupt, "{} cannot be opened: {}", path.string(), std::strerror(errno));
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    return fail(Kind::corrupt, "{} is not a private file of this user", path.string());
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) return fail(Kind::corrupt, "{} is too large", path.string());
  return PrivateFile{std::move(fd), static_cast<std::size_t>(status.st_size)};
}

// A copy of the first `bytes` that only this process has, made by the kernel: no page fault for each page, as a read into fresh memory
// would have.
Result<os::SealedMemory> copy_to_memory(const PrivateFile& file, std::size_t bytes) {
  os::UniqueFd copy(memfd_create("code", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!copy) return fail(Kind::internal, "cannot create a file in memory: {}", std::strerror(errno));
  off_t from = 0;
  while (static_cast<std::size_t>(from) < bytes) {
    if (sendfile(copy.get(), file.fd.get(), &from, bytes - static_cast<std::size_t>(from)) <= 0)
      return fail(Kind::corrupt, "the entry cannot be read");
  }
  return os::SealedMemory::seal(std::move(copy));
}

Status create_key(const fs::path& path) {
  std::array<std::uint8_t, 32> key;
  GW_TRY_VOID(fill_randomly(key));
  return os::create_private_file(path, key);
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
  const fs::path path = root / "code.key";
  Key key;
  auto found = open_private(path, key.size());
  if (!found && found.error().kind == Kind::not_found) {
    GW_TRY_VOID(create_key(path));
    found = open_private(path, key.size());
  }
  if (!found) return found.error();
  if (::read(found->fd.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size()))
    return fail(Kind::corrupt, "{} is not a key of 32 bytes; delete it", path.string());
  return CodeCache(root, key);
}

Bytes CodeCache::name_of(const Hash256& module, CodeKind kind) const {
  ByteWriter writer;
  writer.bytes(as_bytes(kMagic));
  writer.u8(static_cast<std::uint8_t>(kind));
  writer.bytes(module.bytes);
  writer.bytes(engine_.bytes);
  return writer.take();
}

Result<os::SealedMemory> CodeCache::find(const Hash256& module, CodeKind kind) const {
  const Bytes name = name_of(module, kind);
  GW_TRY(const PrivateFile file, open_private(folder_ / sha256(name).hex(), kMaxEntryBytes));
  Tail tail;
  if (file.bytes < sizeof tail) return fail(Kind::corrupt, "the entry is too short");
  const std::size_t code_bytes = file.bytes - sizeof tail;
  if (::pread(file.fd.get(), &tail, sizeof tail, static_cast<off_t>(code_bytes)) != sizeof tail)
    return fail(Kind::corrupt, "the entry cannot be read");
  if (!std::ranges::equal(tail.name, name)) return fail(Kind::corrupt, "the entry is of another module, kind or engine");
  GW_TRY(os::SealedMemory code, copy_to_memory(file, code_bytes));
  const Tag expected = tag_of(key_, tail.nonce, code.bytes(), tail.name);
  if (CRYPTO_memcmp(tail.tag.data(), expected.data(), expected.size()) != 0)
    return fail(Kind::corrupt, "the entry was not written by this user on this machine");
  return code;
}

void CodeCache::drop(const Hash256& module, CodeKind kind) const {
  std::error_code ignored;
  fs::remove(folder_ / sha256(name_of(module, kind)).hex(), ignored);
}

Status CodeCache::store(const Hash256& module, CodeKind kind, ByteView native) const {
  const Bytes name = name_of(module, kind);
  const fs::path path = folder_ / sha256(name).hex();
  Nonce nonce;
  GW_TRY_VOID(fill_randomly(nonce));
  Bytes entry(native.begin(), native.end());
  auto append = [&](ByteView bytes) { entry.insert(entry.end(), bytes.begin(), bytes.end()); };
  append(name);
  append(nonce);
  append(tag_of(key_, nonce, native, name));
  // Set the permissions before the rename: a reader refuses an entry that other users could access.
  fs::path draft = path;
  draft += fmt::format(".{}", getpid());
  GW_TRY_VOID(os::write_file_atomic(draft, entry));
  std::error_code error;
  fs::permissions(draft, fs::perms::owner_read | fs::perms::owner_write, error);
  if (!error) fs::rename(draft, path, error);
  if (error) {
    std::error_code ignored;
    fs::remove(draft, ignored);
    return fail(Kind::internal, "the cache entry cannot be made private: {}", error.message());
  }
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
