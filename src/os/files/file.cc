#include "os/files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <system_error>

#include "base/check.h"
#include "os/files/io.h"
#include "os/files/new_file.h"
#include "os/files/unique_fd.h"
#include "os/files/user_folders.h"

namespace gw::os {
namespace {

namespace fs = std::filesystem;

// Reads at most `count` bytes; fewer only at the end of the file.
Result<std::size_t> read_fully(int fd, std::uint8_t* to, std::size_t count, std::string_view name) {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = ::read(fd, to + done, count - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(kind_of(errno), "cannot read {}: {}", name, reason(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

struct NewFile {
  UniqueFd fd;
  fs::path path;
};

// mkstemp is not used: it ignores the umask and would make every file of ours private.
Result<NewFile> create_beside(const fs::path& path, mode_t mode = 0666) {
  static std::atomic<unsigned> counter{0};
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts; ++i) {
    fs::path candidate = path;
    candidate += fmt::format(".{}-{}.tmp", ::getpid(), counter++);
    UniqueFd fd(::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (fd) return NewFile{std::move(fd), std::move(candidate)};
    if (errno != EEXIST) return fail(kind_of(errno), "cannot create {}: {}", candidate.string(), reason(errno));
  }
  return fail(Kind::internal, "cannot create a temporary file beside {}: remove the *.tmp files left there", path.string());
}

Status write_file(int fd, const fs::path& path, ByteView content) {
  if (const Status written = write_fully(fd, content); !written)
    return fail(written.error().kind, "cannot write {}: {}", path.string(), written.error().detail);
  return ok();
}

Status flush_file(int fd, const fs::path& path) {
  if (::fdatasync(fd) != 0) return fail(kind_of(errno), "cannot flush {}: {}", path.string(), reason(errno));
  return ok();
}

Status move_file(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    return fail(kind_of(errno), "cannot rename {} to {}: {}", from.string(), to.string(), reason(errno));
  return ok();
}

}  // namespace

Result<Bytes> read_file(const fs::path& path, std::size_t max_bytes) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(kind_of(errno), "cannot open {}: {}", path.string(), reason(errno));
  return read_to_end(fd.get(), path.string(), max_bytes);
}

Result<Bytes> read_head(const fs::path& path, std::size_t bytes) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(kind_of(errno), "cannot open {}: {}", path.string(), reason(errno));
  Bytes head(bytes);
  GW_TRY(auto got, read_fully(fd.get(), head.data(), head.size(), path.string()));
  head.resize(got);
  return head;
}

Result<Bytes> read_to_end(int fd, std::string_view name, std::size_t max_bytes) {
  // lseek(2) instead of fstat(2): the C library makes of fstat a call that takes a path, which a caged process may not make.
  const off_t at = ::lseek(fd, 0, SEEK_CUR);
  const off_t end = at < 0 ? at : ::lseek(fd, 0, SEEK_END);
  if (at >= 0) ::lseek(fd, at, SEEK_SET);

  constexpr std::size_t kStep = 1u << 20;
  Bytes content;
  std::size_t used = 0;
  // Reading one byte more than expected finds the end without a second step, and one more than allowed finds the excess.
  std::size_t step = end > at ? static_cast<std::size_t>(end - at) + 1 : kStep;
  for (;;) {
    content.resize(used + std::min(step, max_bytes + 1 - used));
    GW_TRY(auto got, read_fully(fd, content.data() + used, content.size() - used, name));
    used += got;
    if (used > max_bytes) return fail(Kind::overloaded, "{} is larger than the limit of {} bytes", name, max_bytes);
    if (used < content.size()) break;
    step = kStep;
  }
  content.resize(used);
  return content;
}

Status write_file_atomic(const fs::path& path, ByteView content, Durability durability) {
  if (durability == Durability::flushed) {
    FileGroup alone;
    GW_TRY_VOID(alone.add(path, content));
    return alone.commit();
  }
  GW_TRY(const NewFile file, create_beside(path));
  Status done = write_file(file.fd.get(), file.path, content);
  if (done) done = move_file(file.path, path);
  if (!done) ::unlink(file.path.c_str());
  return done;
}

Status create_private_file(const fs::path& path, ByteView content) {
  GW_TRY(NewFile file, create_beside(path, 0600));
  Status written = write_file(file.fd.get(), file.path, content);
  if (written) written = flush_file(file.fd.get(), file.path);
  if (!written) {
    ::unlink(file.path.c_str());
    return written;
  }
  GW_TRY_VOID(link_new_file(file.path, path));
  return ok();
}

FileGroup::~FileGroup() {
  for (const File& file : files_) ::unlink(file.temporary.c_str());
}

Status FileGroup::add(const fs::path& path, ByteView content) {
  GW_ASSERT(files_.size() < kMaxFiles);
  GW_TRY(NewFile file, create_beside(path));
  files_.push_back({std::move(file.fd), file.path, path});
  return write_file(files_.back().fd.get(), files_.back().temporary, content);
}

// All files are flushed before the first gets its name: their flushes share what the file system writes for them.
// The kernel is asked to write all of them first, so that most flushes find nothing left to do.
Status FileGroup::commit() {
  for (const File& file : files_) (void)::sync_file_range(file.fd.get(), 0, 0, SYNC_FILE_RANGE_WRITE);  // a hint
  for (const File& file : files_) GW_TRY_VOID(flush_file(file.fd.get(), file.temporary));
  std::set<fs::path> folders;
  for (const File& file : files_) {
    GW_TRY_VOID(move_file(file.temporary, file.path));
    folders.insert(file.path.parent_path());
  }
  files_.clear();
  for (const fs::path& folder : folders) GW_TRY_VOID(flush_folder(folder));
  return ok();
}

Status flush_folder(const fs::path& folder) {
  const fs::path& named = folder.empty() ? fs::path(".") : folder;
  const UniqueFd fd(::open(named.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail(kind_of(errno), "cannot open the folder {}: {}", named.string(), reason(errno));
  if (::fsync(fd.get()) != 0) return fail(kind_of(errno), "cannot flush the folder {}: {}", named.string(), reason(errno));
  return ok();
}

namespace {

// Where the user wants things of this kind: $VARIABLE if it is set, else the usual place below the home folder.
Result<fs::path> user_place(const char* variable, const fs::path& below_home, std::string_view what) {
  if (const char* chosen = std::getenv(variable); chosen != nullptr && fs::path(chosen).is_absolute()) return fs::path(chosen) / "godwit";
  if (const char* home = std::getenv("HOME"); home != nullptr && fs::path(home).is_absolute()) return home / below_home / "godwit";
  return fail(Kind::invalid, "there is no folder for the {}: set {} or HOME to an absolute path", what, variable);
}

}  // namespace

Result<fs::path> cache_dir() {
  GW_TRY(fs::path ours, user_place("XDG_CACHE_HOME", ".cache", "cache"));
  GW_TRY_VOID(make_private_folder(ours));
  return ours;
}

Result<fs::path> state_dir() { return user_place("XDG_STATE_HOME", fs::path(".local") / "state", "state"); }

Result<fs::path> data_dir() { return user_place("XDG_DATA_HOME", fs::path(".local") / "share", "interpreters of scripts"); }

Status make_private_folder(const fs::path& path) {
  std::error_code failure;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), failure);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(Kind::invalid, "cannot create the folder {}: {}", path.string(), reason(errno));
  return ok();
}

Result<TempDir> TempDir::make() {
  std::error_code error;
  const fs::path root = fs::temp_directory_path(error);
  if (error) return fail(Kind::internal, "there is no folder for temporary files: {}", error.message());
  std::string pattern = (root / "godwit-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return fail(Kind::internal, "cannot create a folder in {}: {}", root.string(), reason(errno));
  return TempDir(fs::path(pattern));
}

TempDir::~TempDir() { remove(); }

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
  }
  return *this;
}

void TempDir::remove() noexcept {
  std::error_code ignored;  // a leftover in the folder for temporary files is not worth failing for
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace gw::os
