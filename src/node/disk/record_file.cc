#include "node/disk/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"
#include "os/io.h"

namespace gw::node {
namespace {

constexpr std::array<std::uint8_t, RecordFile::kMagicBytes> kJournalMagic{'G', 'W', 'J', 'O', 'U', 'R', 'N', 'L'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kDigestBytes = 8;
constexpr std::size_t kFrameBytes = 4 + 4 + kDigestBytes;

Bytes header() {
  ByteWriter out;
  out.bytes(kJournalMagic);
  out.u32(kVersion);
  out.u32(0);
  return out.take();
}

ByteView digest_of(const Hash256& hash) { return ByteView(hash.bytes).first(kDigestBytes); }

Error failed(std::string_view what, const std::filesystem::path& path) {
  return fail(Kind::internal, "cannot {} {}: {}", what, path.string(), os::reason(errno));
}

Status read_at(int fd, std::uint64_t offset, std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Kind::internal, "reading failed: {}", os::reason(errno));
    if (got == 0) return fail(Kind::corrupt, "the file ends too early");
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return ok();
}

Status sync_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  os::UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return failed("make sure of", folder);
  return ok();
}

// Goes through the records of one file.
class Scanner {
 public:
  Scanner(int fd, const std::filesystem::path& path) : fd_(fd), path_(path) {}

  // Returns where the last good record ends.
  Result<std::uint64_t> run(const RecordFile::Visit& visit) {
    GW_TRY_VOID(check_header());
    std::uint64_t at = RecordFile::kHeaderBytes;
    while (at + kFrameBytes <= size_) {
      std::array<std::uint8_t, kFrameBytes> frame;
      GW_TRY_VOID(read_at(fd_, at, frame));
      ByteReader reader(frame);
      GW_TRY(const std::uint32_t length, reader.u32());
      GW_TRY(const std::uint32_t complement, reader.u32());
      if (length == 0 && complement == 0) return at;  // space that was taken and never written
      // Without the second copy a flipped bit could pass for a record that was cut off, and take all that follows with it.
      if (complement != ~length || length > RecordFile::kMaxRecord) return damaged(at);
      if (at + kFrameBytes + length > size_) return at;
      payload_.resize(length);
      GW_TRY_VOID(read_at(fd_, at + kFrameBytes, payload_));
      const std::uint64_t end = at + kFrameBytes + length;
      if (!std::ranges::equal(digest_of(sha256(payload_)), ByteView(frame).subspan(8))) {
        if (end == size_) return at;
        return damaged(at);
      }
      GW_TRY_VOID(visit({at, static_cast<std::uint32_t>(kFrameBytes + length)}, payload_));
      at = end;
    }
    return at;
  }

 private:
  Status check_header() {
    struct stat status{};
    if (::fstat(fd_, &status) != 0) return failed("read", path_);
    size_ = static_cast<std::uint64_t>(status.st_size);
    std::array<std::uint8_t, RecordFile::kHeaderBytes> found;
    if (size_ < found.size()) return fail(Kind::corrupt, "{} is not a journal: it is too short", path_.string());
    GW_TRY_VOID(read_at(fd_, 0, found));
    if (!std::equal(kJournalMagic.begin(), kJournalMagic.end(), found.begin()))
      return fail(Kind::corrupt, "{} is not a journal", path_.string());
    if (!std::ranges::equal(found, header()))
      return fail(Kind::unsupported, "{} is a journal of another version of godwit: this one reads version {}", path_.string(), kVersion);
    return ok();
  }

  Error damaged(std::uint64_t at) {
    return fail(Kind::corrupt, "{} is damaged at byte {}: the record there does not match its checksum", path_.string(), at);
  }

  int fd_;
  const std::filesystem::path& path_;
  std::uint64_t size_ = 0;
  Bytes payload_;
};

}  // namespace

bool RecordFile::is_magic(ByteView head) { return std::ranges::equal(head, kJournalMagic); }

Result<RecordFile> RecordFile::create_beside(const std::filesystem::path& final) {
  const std::filesystem::path path = final.string() + ".new";
  ::unlink(path.c_str());  // left by a process that was killed here
  os::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return failed("create", path);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return failed("lock", path);
  RecordFile file(path, std::move(fd), 0);
  file.pending_ = header();
  return file;
}

Error RecordFile::taken(const std::filesystem::path& path) {
  return fail(Kind::invalid, "{} exists already: resume it with `godwit resume {}`, or choose another name", path.string(), path.string());
}

Status RecordFile::publish_as(const std::filesystem::path& path) {
  GW_TRY_VOID(commit());
  // A link, unlike a rename, never replaces what is there.
  if (::link(path_.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(path_.c_str());
    return error == EEXIST ? taken(path) : fail(Kind::internal, "cannot create {}: {}", path.string(), os::reason(error));
  }
  ::unlink(path_.c_str());
  path_ = path;
  return sync_folder(path);
}

Result<RecordFile> RecordFile::open(const std::filesystem::path& path) {
  os::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return fail(errno == ENOENT ? Kind::not_found : Kind::internal, "cannot open {}: {}", path.string(), os::reason(errno));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(Kind::overloaded, "{} is in use: the job runs already, in another process", path.string());
  return RecordFile(path, std::move(fd), 0);
}

Status RecordFile::read_all(const Visit& visit) {
  GW_TRY(const std::uint64_t end, Scanner(fd_.get(), path_).run(visit));
  if (::ftruncate(fd_.get(), static_cast<off_t>(end)) != 0) return failed("shorten", path_);
  if (::lseek(fd_.get(), static_cast<off_t>(end), SEEK_SET) < 0) return failed("seek in", path_);
  committed_ = end;
  return ok();
}

RecordPosition RecordFile::append(ByteView payload) {
  GW_ASSERT(!payload.empty() && payload.size() <= kMaxRecord);
  const RecordPosition position{size(), static_cast<std::uint32_t>(kFrameBytes + payload.size())};
  ByteWriter frame;
  const auto length = static_cast<std::uint32_t>(payload.size());
  frame.u32(length);
  frame.u32(~length);
  const Hash256 hash = sha256(payload);
  frame.bytes(digest_of(hash));
  pending_.insert(pending_.end(), frame.view().begin(), frame.view().end());
  pending_.insert(pending_.end(), payload.begin(), payload.end());
  return position;
}

Status RecordFile::commit() {
  if (pending_.empty()) return ok();
  if (Status written = os::write_fully(fd_.get(), pending_); !written)
    return fail(Kind::internal, "cannot write to {}: {}", path_.string(), written.error().detail);
  if (::fdatasync(fd_.get()) != 0) return failed("make sure of", path_);
  committed_ += pending_.size();
  pending_.clear();
  return ok();
}

Result<Bytes> RecordFile::read(RecordPosition position) const {
  GW_ASSERT(position.size > kFrameBytes && position.offset + position.size <= committed_);
  Bytes payload(position.size - kFrameBytes);
  std::array<std::uint8_t, kFrameBytes> frame;
  GW_TRY_VOID(read_at(fd_.get(), position.offset, frame));
  GW_TRY_VOID(read_at(fd_.get(), position.offset + kFrameBytes, payload));
  if (!std::ranges::equal(digest_of(sha256(payload)), ByteView(frame).subspan(8)))
    return fail(Kind::corrupt, "{} is damaged at byte {}", path_.string(), position.offset);
  return payload;
}

Status RecordFile::replace_by(RecordFile other) {
  GW_TRY_VOID(other.commit());
  if (::rename(other.path_.c_str(), path_.c_str()) != 0) return failed("replace", path_);
  GW_TRY_VOID(sync_folder(path_));
  fd_ = std::move(other.fd_);
  committed_ = other.committed_;
  pending_.clear();
  return ok();
}

}  // namespace gw::node
