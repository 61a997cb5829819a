#pragma once
// Unix sockets by path: programs of one user on one machine.

#include <sys/types.h>

#include <filesystem>

#include "base/result.h"
#include "os/files/unique_fd.h"

namespace gw::os {

// A socket that listens at a path only this user may connect to, and the lock that makes it the only one there. The path is left to the
// next one that wants it, which removes what a killed process left behind.
class LocalListener {
 public:
  // Makes the folder if it is missing, for this user alone. Kind::overloaded: another process listens there; Kind::invalid: not a path for
  // a socket, or something else is there.
  static Result<LocalListener> open(const std::filesystem::path& path);
  LocalListener(LocalListener&&) noexcept = default;
  ~LocalListener();

  int fd() const { return socket_.get(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  LocalListener(std::filesystem::path path, UniqueFd lock, UniqueFd socket)
      : path_(std::move(path)), lock_(std::move(lock)), socket_(std::move(socket)) {}

  std::filesystem::path path_;
  UniqueFd lock_;
  UniqueFd socket_;
};

// Kind::not_found: no process listens there.
Result<UniqueFd> connect_local(const std::filesystem::path& path);

// The user and the process at the other end of a connected unix socket; of a listener, those that opened it.
Result<uid_t> peer_user(int socket);
Result<pid_t> peer_process(int socket);

}  // namespace gw::os
