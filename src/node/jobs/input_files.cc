#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "node/jobs/job_files.h"
#include "os/files/io.h"

namespace gw::node {
namespace {

namespace fs = std::filesystem;
using wire::pb::InputEntry;

Error cannot_read(const fs::path& host, int error) {
  return fail(error == ENOENT ? Kind::not_found : Kind::invalid, "cannot read the input {}: {}", host.string(), os::reason(error));
}

// Returns fewer bytes at the end of the file.
Result<Bytes> read_piece(int fd, std::uint64_t offset, std::size_t size, const fs::path& host) {
  Bytes bytes(size);
  std::size_t got = 0;
  while (got < size) {
    const ssize_t n = ::pread(fd, bytes.data() + got, size - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot_read(host, errno);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace

std::string digest_of_inputs(const std::vector<wire::pb::InputEntry>& entries) {
  Sha256 hash;
  for (const wire::pb::InputEntry& entry : entries) {
    wire::pb::InputEntry content = entry;
    content.clear_mtime_ns();
    hash.update(as_bytes(content.SerializeAsString()));
  }
  return std::string(as_text(hash.finish().bytes));
}

Error inputs_changed() {
  return fail(Kind::invalid,
              "an input of the program has changed since it started: put the old content back, or run it from the beginning");
}

Result<InputFiles> InputFiles::scan(const std::vector<Mount>& mounts) {
  InputFiles files;
  for (const Mount& mount : mounts) GW_TRY_VOID(files.add(mount.host, mount.guest, Links::follow));
  std::ranges::sort(files.entries_, {}, &InputEntry::path);
  for (std::size_t i = 1; i < files.entries_.size(); ++i)
    if (files.entries_[i].path() == files.entries_[i - 1].path())
      return fail(Kind::invalid, "two inputs have the same name in the program: {}", files.entries_[i].path());
  return files;
}

Result<std::vector<InputEntry>> InputFiles::add_apart(const Mount& mount) {
  std::vector<InputEntry> common = std::exchange(entries_, {});
  const Status added = add(mount.host, mount.guest, Links::follow);
  std::vector<InputEntry> apart = std::exchange(entries_, std::move(common));
  if (!added) return added.error();
  std::ranges::sort(apart, {}, &InputEntry::path);
  return apart;
}

Status InputFiles::add(const fs::path& host, const std::string& guest, Links links) {
  if (entries_.size() >= kMaxEntries) return fail(Kind::invalid, "the inputs have more than {} files: pack them into one", kMaxEntries);
  struct stat status{};
  const int flags = links == Links::keep ? AT_SYMLINK_NOFOLLOW : 0;
  if (::fstatat(AT_FDCWD, host.c_str(), &status, flags) != 0) return cannot_read(host, errno);
  InputEntry entry;
  entry.set_path(guest);
  entry.set_mtime_ns(static_cast<std::uint64_t>(std::max<std::int64_t>(status.st_mtim.tv_sec, 0)) * 1'000'000'000u +
                     static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
  if (S_ISREG(status.st_mode)) return add_file(host, std::move(entry));
  std::error_code error;
  if (S_ISLNK(status.st_mode)) {
    entry.set_type(InputEntry::SYMLINK);
    entry.set_target(fs::read_symlink(host, error).string());
    entries_.push_back(std::move(entry));
    return ok();
  }
  if (!S_ISDIR(status.st_mode)) return fail(Kind::invalid, "the input {} is neither a file nor a folder", host.string());
  entry.set_type(InputEntry::DIRECTORY);
  entries_.push_back(std::move(entry));
  std::vector<fs::path> names;
  for (auto item = fs::directory_iterator(host, error); !error && item != fs::directory_iterator(); item.increment(error))
    names.push_back(item->path().filename());
  if (error) return cannot_read(host, error.value());
  std::ranges::sort(names);
  for (const fs::path& name : names) GW_TRY_VOID(add(host / name, guest + "/" + name.string(), Links::keep));
  return ok();
}

Status InputFiles::add_file(const fs::path& host, InputEntry entry) {
  os::UniqueFd fd(::open(host.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return cannot_read(host, errno);
  std::uint64_t offset = 0;
  for (;;) {
    GW_TRY(const Bytes bytes, read_piece(fd.get(), offset, kChunkBytes, host));
    if (bytes.empty()) break;
    if (chunks_.size() >= kMaxChunks) return fail(Kind::invalid, "the inputs are larger than {} GiB", kMaxChunks / 1024);
    const Hash256 hash = sha256(bytes);
    chunks_.try_emplace(hash, FileRange{host, offset, bytes.size()});
    entry.add_chunks(std::string(as_text(hash.bytes)));
    offset += bytes.size();
    if (bytes.size() < kChunkBytes) break;
  }
  entry.set_size(offset);
  entries_.push_back(std::move(entry));
  return ok();
}

std::vector<Hash256> InputFiles::chunks() const {
  std::vector<Hash256> hashes;
  hashes.reserve(chunks_.size());
  for (const auto& [hash, range] : chunks_) hashes.push_back(hash);
  std::ranges::sort(hashes);
  return hashes;
}

Result<Bytes> InputFiles::read_chunk(const Hash256& hash) const {
  const auto found = chunks_.find(hash);
  if (found == chunks_.end()) return fail(Kind::not_found, "no input has this content");
  const FileRange& range = found->second;
  os::UniqueFd fd(::open(range.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return cannot_read(range.file, errno);
  GW_TRY(Bytes bytes, read_piece(fd.get(), range.offset, range.size, range.file));
  if (sha256(bytes) != hash) return fail(Kind::corrupt, "the input {} has changed while the program runs", range.file.string());
  return bytes;
}

}  // namespace gw::node
