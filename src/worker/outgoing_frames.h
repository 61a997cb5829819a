#pragma once
// Frames on their way from any thread of the worker to the one that writes the socket.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "os/sockets/message_socket.h"
#include "wire/messages/worker_frames.h"

namespace gw::worker {

// A queue with a descriptor that wakes the loop. At most kMaxWaiting frames: a pool thread that makes more, images above all, waits until
// the loop has taken some.
class OutgoingFrames {
 public:
  static constexpr std::size_t kMaxWaiting = 16;

  // `wake` is an eventfd: it must be opened before the cage is shut.
  explicit OutgoingFrames(os::UniqueFd wake) : wake_(std::move(wake)) {}

  // Pool threads. May wait.
  void put(const wire::pb::FromWorker& frame, std::vector<os::UniqueFd> descriptors = {});
  // The loop itself, which would wait for itself.
  void put_now(const wire::pb::FromWorker& frame);
  // Makes the loop look at everything again. Any thread.
  void wake();

  // --- the loop

  int wake_fd() const { return wake_.get(); }
  // Everything that waits. The loop is not woken again for what came before.
  std::deque<os::Message> take();
  // The same, but the wake-up stays, because effects may have come with it: the loop looks once more.
  std::deque<os::Message> take_queued();

 private:
  void append_locked(const wire::pb::FromWorker& frame, std::vector<os::UniqueFd> descriptors);

  os::UniqueFd wake_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<os::Message> waiting_;  // guarded by mutex_
};

}  // namespace gw::worker
