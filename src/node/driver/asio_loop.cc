#include "node/driver/asio_loop.h"

#include <fcntl.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>

#include "os/files/io.h"

namespace gw::node {
namespace {

class DescriptorWatch final : public EventLoop::Watch {
 public:
  // `descriptor` is closed at the end, as Asio does.
  DescriptorWatch(boost::asio::io_context& io, int descriptor, std::function<void()> ready)
      : descriptor_(io, descriptor), ready_(std::move(ready)) {
    wait();
  }
  ~DescriptorWatch() override { *alive_ = false; }

 private:
  void wait() {
    descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                           [this, alive = alive_](const boost::system::error_code& error) {
                             if (!*alive || error) return;
                             const auto ready = ready_;  // the callback may destroy this watch
                             ready();
                             if (*alive) wait();
                           });
  }

  boost::asio::posix::stream_descriptor descriptor_;
  const std::function<void()> ready_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with the handler that waits
};

}  // namespace

Result<std::unique_ptr<EventLoop::Watch>> AsioLoop::watch(int descriptor, std::function<void()> ready) {
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return fail(Kind::internal, "cannot watch a descriptor: {}", os::reason(errno));
  return std::make_unique<DescriptorWatch>(io_, own, std::move(ready));
}

void AsioLoop::post(std::function<void()> callback) {
  boost::asio::post(io_, [alive = alive_, callback = std::move(callback)] {
    if (*alive) callback();
  });
}

void AsioLoop::with_images(std::function<void()> task, std::function<void()> then) {
  images_.add([this, task = std::move(task), then = std::move(then)] {
    task();
    post(then);
  });
}

void AsioLoop::with_blobs(std::function<void(BlobReader&)> task, std::function<void()> then) {
  disk_.with_blobs([this, task = std::move(task), then = std::move(then)](BlobStore& blobs) {
    task(blobs);
    disk_.answer(then);
  });
}

}  // namespace gw::node
