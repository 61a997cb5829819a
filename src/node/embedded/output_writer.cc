#include "node/embedded/output_writer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "os/files/io.h"

namespace gw::node {
namespace {

// A pipe or terminal that poll() calls writable takes this much without blocking.
constexpr std::size_t kAtomicWrite = PIPE_BUF;

bool takes_output(int fd) {
  pollfd entry{fd, POLLOUT, 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace

void OutputWriter::add(job::Effect effect) {
  if (!effect.has_output() && !effect.has_report()) return;
  waiting_bytes_ += effect.output().bytes().size();
  waiting_.push_back(std::move(effect));
}

int OutputWriter::blocked_on() const {
  if (waiting_.empty() || !waiting_.front().has_output()) return -1;
  return descriptor_of(waiting_.front().output());
}

int OutputWriter::descriptor_of(const job::Effect::Output& output) const {
  return output.descriptor() == 1 ? descriptors_.output : descriptors_.errors;
}

// The next bytes of one stream, of as many effects as fit: a program that prints lines costs a system call for hundreds of them.
std::size_t OutputWriter::gather(std::span<char> out) const {
  std::size_t filled = 0;
  std::size_t begin = written_;
  for (const job::Effect& effect : waiting_) {
    if (filled == out.size() || !effect.has_output() || effect.output().descriptor() != waiting_.front().output().descriptor()) break;
    const std::string_view bytes = std::string_view(effect.output().bytes()).substr(std::exchange(begin, 0));
    filled += bytes.copy(out.data() + filled, out.size() - filled);
  }
  return filled;
}

// Removes bytes from the front of the waiting output: they are shown, or their reader has gone.
void OutputWriter::drop_output(std::size_t bytes) {
  written_ += bytes;
  while (!waiting_.empty() && waiting_.front().has_output() && written_ >= waiting_.front().output().bytes().size()) {
    const std::size_t size = waiting_.front().output().bytes().size();
    written_ -= size;
    waiting_bytes_ -= size;
    waiting_.pop_front();
  }
}

// REQUIRES: output is in front.
Result<OutputWriter::Progress> OutputWriter::write_some() {
  const int fd = descriptor_of(waiting_.front().output());
  std::array<char, kAtomicWrite> next;
  const std::size_t size = gather(next);
  ssize_t n = 0;
  if (size > 0) {
    if (!takes_output(fd)) return Progress::blocked;
    n = ::write(fd, next.data(), size);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return Progress::made;
    if (n < 0 && errno == EPIPE) {
      broken_ = true;
      n = static_cast<ssize_t>(size);
    }
    if (n < 0) return fail(Kind::internal, "cannot write the program's output: {}", os::reason(errno));
  }
  drop_output(static_cast<std::size_t>(n));
  return Progress::made;
}

Status OutputWriter::advance() {
  while (!waiting_.empty()) {
    if (waiting_.front().has_output()) {
      GW_TRY(const Progress progress, write_some());
      if (progress == Progress::blocked) return ok();
    } else {
      observer_.on_report(job::ThreadId{waiting_.front().thread()}, as_bytes(waiting_.front().report()));
      waiting_.pop_front();
    }
  }
  return ok();
}

std::deque<job::Effect> OutputWriter::waiting() const {
  std::deque<job::Effect> left = waiting_;
  if (written_ > 0) left.front().mutable_output()->mutable_bytes()->erase(0, written_);
  return left;
}

}  // namespace gw::node
