#pragma once
// The event loop that drives the workers of a process.

#include <functional>
#include <memory>

#include "base/result.h"
#include "node/disk/blob_reader.h"

namespace gw::node {

// The loop that drives a WorkerTable: the daemon's waits with Asio and has a thread for blobs, that of a command with poll(2) and none. All
// callbacks come on the loop's thread and never from inside a call.
class EventLoop {
 public:
  // A watched descriptor: the destructor ends the watch.
  class Watch {
   public:
    virtual ~Watch() = default;
  };

  virtual ~EventLoop() = default;
  // Calls `ready` while the descriptor is readable, which must be open as long as it is watched.
  virtual Result<std::unique_ptr<Watch>> watch(int descriptor, std::function<void()> ready) = 0;
  // Calls `callback` from a later turn of the loop. A task of the two functions below may call it too.
  virtual void post(std::function<void()> callback) = 0;
  // Calls `task` where it may block, in order with the other work on blobs, then `then`.
  virtual void with_blobs(std::function<void(BlobReader&)> task, std::function<void()> then) = 0;
  // Calls `task`, which hashes much, where it holds up nothing else, in order with others of its kind, then `then`.
  virtual void with_images(std::function<void()> task, std::function<void()> then) = 0;
};

}  // namespace gw::node
