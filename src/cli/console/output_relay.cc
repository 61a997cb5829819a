#include "cli/console/output_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "os/files/io.h"

namespace gw::cli {

Result<std::unique_ptr<OutputRelay>> OutputRelay::start(Sink sink) {
  std::unique_ptr<OutputRelay> relay(new OutputRelay(std::move(sink)));
  for (Pipe& pipe : relay->ends_) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return fail(Kind::internal, "cannot create a pipe: {}", os::reason(errno));
    pipe = {os::UniqueFd(fds[0]), os::UniqueFd(fds[1])};
  }
  relay->thread_ = std::thread([relay = relay.get()] { relay->run(); });
  return relay;
}

OutputRelay::~OutputRelay() { finish(); }

void OutputRelay::finish() {
  if (!thread_.joinable()) return;
  for (Pipe& pipe : ends_) pipe.write.reset();
  thread_.join();
}

void OutputRelay::run() {
  while (ends_[0].read || ends_[1].read) {
    std::array<pollfd, 2> watched{{{ends_[0].read.get(), POLLIN, 0}, {ends_[1].read.get(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < watched.size(); ++i)
      if (watched[i].revents != 0) pass_on(i);
  }
}

void OutputRelay::pass_on(std::size_t pipe) {
  std::array<std::uint8_t, 64u << 10> buffer;
  const ssize_t count = ::read(ends_[pipe].read.get(), buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) return ends_[pipe].read.reset();
  sink_(pipe == 0 ? Stream::output : Stream::errors, ByteView(buffer).first(static_cast<std::size_t>(count)));
}

}  // namespace gw::cli
