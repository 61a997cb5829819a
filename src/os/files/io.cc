#include "os/files/io.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace gw::os {

std::string reason(int error) { return std::generic_category().message(error); }

Kind kind_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Kind::not_found;
    case EACCES:
    case EISDIR:
    case EPERM:
      return Kind::invalid;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Kind::overloaded;
    default:
      return Kind::internal;
  }
}

Status write_fully(int fd, ByteView content) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Error{kind_of(errno), reason(errno)};
    content = content.subspan(static_cast<std::size_t>(put));
  }
  return ok();
}

}  // namespace gw::os
