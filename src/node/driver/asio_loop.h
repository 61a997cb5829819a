#pragma once
// The waits of workers, done by the daemon's event loop.

#include <boost/asio/io_context.hpp>
#include <memory>

#include "node/disk/disk.h"
#include "node/disk/serial_thread.h"
#include "node/worker/event_loop.h"

namespace gw::node {

// Descriptors are watched by an io_context, blobs are read on the disk's thread for them. Belongs to the thread that runs the io_context.
// REQUIRES: the disk's threads have ended, or the io_context runs no more, before the destructor.
class AsioLoop final : public EventLoop {
 public:
  AsioLoop(boost::asio::io_context& io, Disk& disk) : io_(io), disk_(disk) {}
  ~AsioLoop() override { *alive_ = false; }

  Result<std::unique_ptr<Watch>> watch(int descriptor, std::function<void()> ready) override;
  void post(std::function<void()> callback) override;
  void with_blobs(std::function<void(BlobReader&)> task, std::function<void()> then) override;
  void with_images(std::function<void()> task, std::function<void()> then) override;

 private:
  boost::asio::io_context& io_;
  Disk& disk_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with callbacks that were posted
  SerialThread images_{{.name = "gw-images"}};                  // last: its tasks post to the others
};

}  // namespace gw::node
