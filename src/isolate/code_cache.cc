#include "isolate/code_cache.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "isolate/engine_fingerprint.h"
#include "os/file.h"
#include "os/unique_fd.h"

namespace gw::isolate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "GWCODE03";
constexpr std::size_t kMacBytes = 32;
// An entry: code, head, MAC of both. The code comes first, so that it can be cut out where it lies.
constexpr std::size_t kHeadBytes = 8 + 1 + 32 + 32;  // magic, kind, module, engine
constexpr std::size_t kMaxEntryBytes = 1u << 30;

Hash256 mac(ByteView key, ByteView bytes) {
  Hash256 out;
  unsigned size = 0;
  GW_ASSERT(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes.data(), bytes.size(), out.bytes.data(), &size) != nullptr);
  GW_ASSERT(size == out.bytes.size());
  return out;
}

// A file in memory, mapped for reading; no bytes if that fails.
class Mapped {
 public:
  Mapped(int fd, std::size_t size) : size_(size), base_(mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0)) {}
  ~Mapped() {
    if (base_ != MAP_FAILED) munmap(base_, size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ByteView bytes() const { return base_ == MAP_FAILED ? ByteView{} : ByteView(static_cast<const std::uint8_t*>(base_), size_); }

 private:
  std::size_t size_;
  void* base_;
};

struct PrivateFile {
  os::UniqueFd fd;
  std::size_t bytes;
};

// Opens a file that must be this user's own and closed to everybody else.
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

// A copy that only this process has, made by the kernel: no page fault for each page, as a read into fresh memory would have.
Result<os::UniqueFd> copy_to_memory(const PrivateFile& file) {
  os::UniqueFd copy(memfd_create("code", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!copy) return fail(Kind::internal, "cannot create a file in memory: {}", std::strerror(errno));
  for (std::size_t done = 0; done < file.bytes;) {
    ssize_t count = sendfile(copy.get(), file.fd.get(), nullptr, file.bytes - done);
    if (count <= 0) return fail(Kind::corrupt, "the entry cannot be read");
    done += static_cast<std::size_t>(count);
  }
  return copy;
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

Bytes CodeCache::head(const Hash256& module, CodeKind kind) const {
  ByteWriter writer;
  writer.bytes(as_bytes(kMagic));
  writer.u8(static_cast<std::uint8_t>(kind));
  writer.bytes(module.bytes);
  writer.bytes(engine_.bytes);
  return writer.take();
}

Result<os::SealedMemory> CodeCache::find(const Hash256& module, CodeKind kind) const {
  const Bytes expected = head(module, kind);
  GW_TRY(PrivateFile file, open_private(folder_ / sha256(expected).hex(), kMaxEntryBytes));
  if (file.bytes < kHeadBytes + kMacBytes) return fail(Kind::corrupt, "the entry is too short");
  const std::size_t code_bytes = file.bytes - kHeadBytes - kMacBytes;
  GW_TRY(os::UniqueFd copy, copy_to_memory(file));
  {
    Mapped entry(copy.get(), file.bytes);
    if (entry.bytes().empty()) return fail(Kind::internal, "the entry cannot be mapped");
    ByteView signed_part = entry.bytes().first(code_bytes + kHeadBytes);
    if (CRYPTO_memcmp(mac(key_, signed_part).bytes.data(), entry.bytes().last(kMacBytes).data(), kMacBytes) != 0)
      return fail(Kind::corrupt, "the entry was not written by this user on this machine");
    if (!std::ranges::equal(signed_part.last(kHeadBytes), expected))
      return fail(Kind::corrupt, "the entry is of another module, kind or engine");
  }
  if (ftruncate(copy.get(), static_cast<off_t>(code_bytes)) != 0) return fail(Kind::internal, "the code cannot be cut out of its entry");
  return os::SealedMemory::seal(std::move(copy));
}

Status CodeCache::store(const Hash256& module, CodeKind kind, ByteView native) const {
  const Bytes name = head(module, kind);
  const fs::path path = folder_ / sha256(name).hex();
  Bytes entry(native.begin(), native.end());
  auto append = [&](ByteView bytes) { entry.insert(entry.end(), bytes.begin(), bytes.end()); };
  append(name);
  append(mac(key_, entry).bytes);
  // Private before it has its name: whoever finds it refuses what others could read.
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
