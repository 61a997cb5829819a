#include "node/disk/state_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/files/file.h"
#include "os/files/io.h"
#include "os/files/user_folders.h"

namespace gw::node {
namespace {

namespace fs = std::filesystem;

Status check_owner(const fs::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return fail(Kind::internal, "cannot look at {}: {}", path.string(), os::reason(errno));
  if (!S_ISDIR(status.st_mode)) return fail(Kind::invalid, "{} is no folder: choose another place for the daemon's state", path.string());
  if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return fail(Kind::invalid, "{} must belong to you and be closed to others: chmod 700 it, or choose another place", path.string());
  return ok();
}

// The process id that the holder of the lock wrote into it, for an error message.
std::string holder_of(int lock) {
  char text[32] = {};
  const ssize_t got = ::pread(lock, text, sizeof text - 1, 0);
  return got > 0 ? fmt::format(" (process {})", std::string_view(text, static_cast<std::size_t>(got))) : "";
}

}  // namespace

Result<StateFolder> StateFolder::open(const fs::path& path) {
  GW_TRY_VOID(os::make_private_folder(path));
  GW_TRY_VOID(os::flush_folder(path.parent_path()));
  GW_TRY_VOID(check_owner(path));
  const fs::path file = path / "lock";
  os::UniqueFd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return fail(Kind::invalid, "cannot open {}: {}", file.string(), os::reason(errno));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(Kind::overloaded, "another daemon{} uses {}: stop it, or choose another place for the state", holder_of(lock.get()),
                path.string());
  const std::string pid = std::to_string(::getpid());
  // The process id is only used in error messages, so ignore failures such as a full disk.
  if (::ftruncate(lock.get(), 0) == 0) (void)!::pwrite(lock.get(), pid.data(), pid.size(), 0);
  return StateFolder(path, std::move(lock));
}

bool StateFolder::in_use(const fs::path& path) {
  const os::UniqueFd lock(::open((path / "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return lock && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0;
}

}  // namespace gw::node
