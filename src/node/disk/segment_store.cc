#include "node/disk/segment_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/files/file.h"
#include "os/files/io.h"

namespace gw::node {
namespace {

namespace fs = std::filesystem;

Error cannot(std::string_view what, const fs::path& path) {
  return fail(os::kind_of(errno), "cannot {} {}: {}", what, path.string(), os::reason(errno));
}

}  // namespace

Result<SegmentStore> SegmentStore::open(const fs::path& folder) {
  std::error_code failure;
  const bool created = fs::create_directories(folder, failure);
  if (failure) return fail(Kind::invalid, "cannot make the folder {}: {}", folder.string(), failure.message());
  if (created) GW_TRY_VOID(os::flush_folder(folder.parent_path()));
  return SegmentStore(folder);
}

// --- writing

Result<os::UniqueFd> SegmentStore::create(const fs::path& folder, std::uint32_t number) {
  if (::mkdir(folder.c_str(), 0700) == 0) {
    unflushed_folders_.insert(folder_);
  } else if (errno != EEXIST) {
    return cannot("make the folder", folder);
  }
  const fs::path file = segment::file_of(folder, number);
  os::UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));  // an unrecorded file may be left there
  if (!fd) return cannot("make", file);
  unflushed_folders_.insert(folder);
  if (const Status written = os::write_fully(fd.get(), as_bytes(segment::kMagic)); !written)
    return fail(written.error().kind, "cannot write {}: {}", file.string(), written.error().detail);
  return fd;
}

Result<SegmentStore::Writer> SegmentStore::resume(const job::JobId& job, Position recorded) {
  const fs::path folder = segment::folder_of(folder_, job), file = segment::file_of(folder, recorded.number);
  if (recorded == Position()) {
    GW_TRY(os::UniqueFd fd, create(folder, recorded.number));
    return Writer{.fd = std::move(fd), .end = recorded, .unflushed = true};
  }
  os::UniqueFd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd && errno == ENOENT) return fail(Kind::corrupt, "{} is missing", file.string());
  if (!fd) return cannot("open", file);
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  if (size < static_cast<off_t>(recorded.offset))
    return fail(Kind::corrupt, "{} has {} bytes and was recorded with {}", file.string(), size, recorded.offset);
  if (::ftruncate(fd.get(), recorded.offset) != 0) return cannot("cut", file);
  ::lseek(fd.get(), recorded.offset, SEEK_SET);
  return Writer{.fd = std::move(fd), .end = recorded, .unflushed = true};
}

Status SegmentStore::begin_next(const job::JobId& job, Writer& writer) {
  if (::fdatasync(writer.fd.get()) != 0) return cannot("flush", segment::file_of(segment::folder_of(folder_, job), writer.end.number));
  writer.end = {.number = writer.end.number + 1};
  GW_TRY(writer.fd, create(segment::folder_of(folder_, job), writer.end.number));
  return ok();
}

Result<SegmentStore::Position> SegmentStore::append(const job::JobId& job, Position recorded, const job::EffectEntry& entry) {
  auto found = writers_.find(job);
  if (found == writers_.end()) {
    GW_TRY(Writer resumed, resume(job, recorded));
    found = writers_.emplace(job, std::move(resumed)).first;
  }
  Writer& writer = found->second;
  const std::uint64_t size = segment::kHeaderBytes + entry.bytes.size();
  if (writer.end != Position{.number = writer.end.number} && writer.end.offset + size > segment::kMaxBytes)
    GW_TRY_VOID(begin_next(job, writer));
  const segment::Header header = segment::encode(entry.header, entry.bytes);
  std::string bytes(as_text(header));
  bytes += entry.bytes;
  if (const Status written = os::write_fully(writer.fd.get(), as_bytes(bytes)); !written)
    return fail(written.error().kind, "cannot write output of job {}: {}", job.brief(), written.error().detail);
  writer.unflushed = true;
  writer.end.offset += static_cast<std::uint32_t>(size);
  return writer.end;
}

Status SegmentStore::flush() {
  for (auto& [job, writer] : writers_)
    if (std::exchange(writer.unflushed, false) && ::fdatasync(writer.fd.get()) != 0)
      return cannot("flush", segment::folder_of(folder_, job));
  for (const fs::path& folder : unflushed_folders_) GW_TRY_VOID(os::flush_folder(folder));
  unflushed_folders_.clear();
  if (writers_.size() > kMaxOpen) writers_.clear();
  return ok();
}

void SegmentStore::abandon() {
  writers_.clear();
  unflushed_folders_.clear();
}

// --- reading, forgetting

Result<std::vector<job::StoredEffect>> SegmentStore::headers(const job::JobId& job, Position end) const {
  SegmentCursor cursor(segment::folder_of(folder_, job), Position(), end);
  std::vector<job::StoredEffect> all;
  for (;;) {
    GW_TRY(const std::optional<SegmentCursor::Entry> entry, cursor.next());
    if (!entry) {
      GW_TRY_VOID(check_end(job, end));
      return all;
    }
    all.push_back(entry->effect);
  }
}

// Checks the length now: a file shorter than recorded would otherwise be found only by the next append, too late to report the job as lost.
Status SegmentStore::check_end(const job::JobId& job, Position end) const {
  if (end == Position()) return ok();
  const fs::path file = segment::file_of(segment::folder_of(folder_, job), end.number);
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(file, failure);
  if (failure) return fail(Kind::corrupt, "{} is missing", file.string());
  if (size < end.offset) return fail(Kind::corrupt, "{} has {} bytes and was recorded with {}", file.string(), size, end.offset);
  return ok();
}

std::set<job::JobId> SegmentStore::jobs() const {
  std::set<job::JobId> jobs;
  std::error_code failure;
  for (fs::directory_iterator entry(folder_, failure), end; !failure && entry != end; entry.increment(failure))
    if (const auto hash = parse_hash(entry->path().filename().string())) jobs.insert(job::JobId{*hash});
  return jobs;
}

SegmentStore::Position SegmentStore::readable_end(const job::JobId& job) const {
  SegmentCursor cursor(segment::folder_of(folder_, job), Position(), {.number = UINT32_MAX});
  Position end;
  for (auto entry = cursor.next(); entry && *entry; entry = cursor.next()) end = cursor.position();
  return end;
}

Status SegmentStore::drop(const job::JobId& job) {
  writers_.erase(job);
  const fs::path folder = segment::folder_of(folder_, job);
  std::error_code failure;
  fs::remove_all(folder, failure);
  if (failure) return fail(Kind::internal, "cannot remove {}: {}", folder.string(), failure.message());
  return ok();
}

Status SegmentStore::retain(const std::set<job::JobId>& jobs) {
  std::error_code failure;
  std::vector<fs::path> others;
  for (fs::directory_iterator entry(folder_, failure), end; !failure && entry != end; entry.increment(failure)) {
    const auto hash = parse_hash(entry->path().filename().string());
    if (!hash || !jobs.contains(job::JobId{*hash})) others.push_back(entry->path());
  }
  for (const fs::path& other : others)
    if (!failure) fs::remove_all(other, failure);
  if (failure) return fail(Kind::internal, "cannot clear {}: {}", folder_.string(), failure.message());
  return ok();
}

}  // namespace gw::node
