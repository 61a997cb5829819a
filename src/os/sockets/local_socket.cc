#include "os/sockets/local_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "os/files/io.h"

namespace gw::os {
namespace {

namespace fs = std::filesystem;

constexpr int kBacklog = 64;

Result<sockaddr_un> address_of(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& text = path.native();
  if (text.empty() || text.size() >= sizeof address.sun_path)
    return fail(Kind::invalid, "'{}' cannot be the path of a socket: the system allows 1 to {} characters, choose a shorter one", text,
                sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, text.data(), text.size());
  return address;
}

Status make_folder(const fs::path& folder) {
  std::error_code failure;
  if (folder.empty() || fs::is_directory(folder, failure)) return ok();
  fs::create_directories(folder.parent_path(), failure);
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return ok();
  return fail(Kind::invalid, "cannot create the folder {}: {}", folder.string(), reason(errno));
}

// Held for the life of the listener, so that two processes never remove each other's socket.
Result<UniqueFd> lock_beside(const fs::path& path) {
  const fs::path file = path.string() + ".lock";
  UniqueFd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return fail(Kind::invalid, "cannot open {}: {}", file.string(), reason(errno));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return fail(Kind::overloaded, "another process already listens at {}", path.string());
  return fail(Kind::internal, "cannot lock {}: {}", file.string(), reason(errno));
}

Status remove_left_over(const fs::path& path) {
  struct stat found;
  if (::lstat(path.c_str(), &found) != 0) return ok();
  if (!S_ISSOCK(found.st_mode)) return fail(Kind::invalid, "{} exists and is not a socket: choose another path", path.string());
  if (::unlink(path.c_str()) == 0) return ok();
  return fail(Kind::invalid, "cannot replace {}: {}", path.string(), reason(errno));
}

Result<UniqueFd> bound_socket(const fs::path& path) {
  GW_TRY(const sockaddr_un address, address_of(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(Kind::internal, "cannot create a socket: {}", reason(errno));
  // A client cannot connect before listen(), so the permissions are right before the first connection.
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(socket.get(), kBacklog) != 0)
    return fail(Kind::invalid, "cannot listen at {}: {}", path.string(), reason(errno));
  return socket;
}

}  // namespace

Result<LocalListener> LocalListener::open(const fs::path& path) {
  GW_TRY_VOID(address_of(path));
  GW_TRY_VOID(make_folder(path.parent_path()));
  GW_TRY(UniqueFd lock, lock_beside(path));
  GW_TRY_VOID(remove_left_over(path));
  GW_TRY(UniqueFd socket, bound_socket(path));
  return LocalListener(path, std::move(lock), std::move(socket));
}

LocalListener::~LocalListener() {
  if (lock_) ::unlink(path_.c_str());
}

Result<UniqueFd> connect_local(const fs::path& path) {
  GW_TRY(const sockaddr_un address, address_of(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail(Kind::internal, "cannot create a socket: {}", reason(errno));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return socket;
  if (errno == ENOENT || errno == ECONNREFUSED) return fail(Kind::not_found, "no process listens at {}", path.string());
  return fail(Kind::disconnected, "cannot connect to {}: {}", path.string(), reason(errno));
}

namespace {

Result<ucred> peer_credentials(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return fail(Kind::internal, "the system does not say which process is at the other end of a socket: {}", reason(errno));
  return credentials;
}

}  // namespace

Result<uid_t> peer_user(int socket) {
  GW_TRY(const ucred credentials, peer_credentials(socket));
  return credentials.uid;
}

Result<pid_t> peer_process(int socket) {
  GW_TRY(const ucred credentials, peer_credentials(socket));
  return credentials.pid;
}

}  // namespace gw::os
