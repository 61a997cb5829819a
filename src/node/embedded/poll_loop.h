#pragma once
// The loop of a command: poll(2) on one thread.

#include <poll.h>

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "job/names.h"
#include "node/worker/event_loop.h"

namespace gw::node {

// Waits for descriptors, deadlines and callbacks that were posted. Blobs are read at once, on the same thread: a command has no other
// client to serve meanwhile. Belongs to one thread.
class PollLoop final : public EventLoop {
 public:
  // REQUIRES: blobs outlive it.
  explicit PollLoop(BlobReader& blobs) : blobs_(blobs) {}

  Result<std::unique_ptr<Watch>> watch(int descriptor, std::function<void()> ready) override;
  void post(std::function<void()> callback) override { posted_.push_back(std::move(callback)); }
  void with_blobs(std::function<void(BlobReader&)> task, std::function<void()> then) override;
  void with_images(std::function<void()> task, std::function<void()> then) override;

  // Waits until a watched descriptor or one of `others` is ready, or the time has come; calls what is due then. The events of the others
  // are in their revents. Negative descriptors are left out.
  Status wait(std::vector<pollfd>& others, job::Time until);

 private:
  struct Entry {
    int descriptor;
    std::function<void()> ready;
  };
  class Registration;

  BlobReader& blobs_;
  std::list<std::shared_ptr<Entry>> entries_;
  std::deque<std::function<void()>> posted_;
};

}  // namespace gw::node
