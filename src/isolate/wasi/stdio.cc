#include "isolate/wasi/stdio.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gw::isolate {
namespace {

bool readable(int fd, std::chrono::milliseconds timeout) {
  pollfd request{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&request, 1, static_cast<int>(timeout.count())) > 0;
}

}  // namespace

Result<InputSource::Read> FdInput::read(std::span<std::uint8_t> buffer) {
  if (!readable(fd_, std::chrono::milliseconds(0))) return Read{State::not_yet, 0};
  ssize_t count = ::read(fd_, buffer.data(), buffer.size());
  if (count > 0) return Read{State::data, static_cast<std::size_t>(count)};
  if (count == 0) return Read{State::end, 0};
  if (errno == EINTR || errno == EAGAIN) return Read{State::not_yet, 0};
  return fail(Kind::internal, "reading standard input failed: {}", std::strerror(errno));
}

void FdInput::wait(std::chrono::milliseconds timeout) { (void)readable(fd_, timeout); }

Status FdOutput::write(ByteView bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EAGAIN) {
      pollfd request{.fd = fd_, .events = POLLOUT, .revents = 0};
      (void)::poll(&request, 1, -1);
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(Kind::disconnected, "writing output failed: {}", std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return ok();
}

}  // namespace gw::isolate
