#include "os/io.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace gw::os {

std::string reason(int error) { return std::generic_category().message(error); }

Status write_fully(int fd, ByteView content) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Error{errno == ENOSPC || errno == EDQUOT ? Kind::overloaded : Kind::internal, reason(errno)};
    content = content.subspan(static_cast<std::size_t>(put));
  }
  return ok();
}

}  // namespace gw::os
