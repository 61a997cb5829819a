#include "node/disk/spare_room.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "os/files/io.h"
#include "os/files/unique_fd.h"

namespace gw::node {

Status SpareRoom::reserve() {
  if (reserved()) return ok();
  GW_TRY(const std::uint64_t free, free_bytes());
  if (free < kBytes + 2 * kLow)
    return fail(Kind::overloaded, "only {} MiB are free on the disk of {}: free some space", free >> 20, file_.parent_path().string());
  const os::UniqueFd fd(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return fail(Kind::internal, "cannot make {}: {}", file_.string(), os::reason(errno));
  const int failed = ::posix_fallocate(fd.get(), 0, kBytes);
  if (failed == 0) return ok();
  (void)release();
  return fail(failed == ENOSPC || failed == EDQUOT ? Kind::overloaded : Kind::internal, "cannot reserve {} MiB in {}: {}", kBytes >> 20,
              file_.string(), os::reason(failed));
}

bool SpareRoom::release() { return ::unlink(file_.c_str()) == 0; }

bool SpareRoom::reserved() const {
  struct stat found{};
  return ::stat(file_.c_str(), &found) == 0 && static_cast<std::uint64_t>(found.st_size) >= kBytes;
}

Result<std::uint64_t> SpareRoom::free_bytes() const {
  struct statvfs found{};
  const std::string folder = file_.parent_path().string();
  if (::statvfs(folder.c_str(), &found) != 0) return fail(Kind::internal, "cannot look at the disk of {}: {}", folder, os::reason(errno));
  return std::uint64_t{found.f_bavail} * found.f_frsize;
}

}  // namespace gw::node
