#include "node/jobs/effect_delivery.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "os/io.h"

namespace gw::node {
namespace {

// A pipe or terminal that poll() calls writable takes this much without blocking.
constexpr std::size_t kSafeWrite = PIPE_BUF;

bool is_writable(int fd) {
  pollfd entry{fd, POLLOUT, 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace

int EffectDelivery::blocked_on() const {
  if (waiting_.empty() || !waiting_.front().has_output()) return -1;
  return waiting_.front().output().stream() == 1 ? descriptors_.output : descriptors_.errors;
}

Result<EffectDelivery::Progress> EffectDelivery::write_output(const job::Effect::Output& output) {
  const int fd = output.stream() == 1 ? descriptors_.output : descriptors_.errors;
  const ByteView bytes = as_bytes(output.bytes());
  while (written_ < bytes.size()) {
    if (!is_writable(fd)) return Progress::blocked;
    const ssize_t n = ::write(fd, bytes.data() + written_, std::min(bytes.size() - written_, kSafeWrite));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0 && errno == EPIPE) {
      broken_ = true;
      break;
    }
    if (n < 0) return fail(Kind::internal, "cannot write the program's output: {}", os::reason(errno));
    written_ += static_cast<std::size_t>(n);
  }
  written_ = 0;
  return Progress::done;
}

Status EffectDelivery::advance() {
  while (!waiting_.empty()) {
    const job::Effect& effect = waiting_.front();
    if (effect.has_output()) {
      GW_TRY(const Progress progress, write_output(effect.output()));
      if (progress == Progress::blocked) return ok();
    } else if (effect.has_report()) {
      observer_.on_report(job::ThreadId{effect.thread()}, as_bytes(effect.report()));
    }
    delivered_[job::ThreadId{effect.thread()}] = effect.sequence();
    waiting_.pop_front();
  }
  return ok();
}

}  // namespace gw::node
