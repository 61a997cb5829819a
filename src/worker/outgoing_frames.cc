#include "worker/outgoing_frames.h"

#include <unistd.h>

#include <cstdint>
#include <utility>

namespace gw::worker {

void OutgoingFrames::put(const wire::pb::FromWorker& frame, std::vector<os::UniqueFd> descriptors) {
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return waiting_.size() < kMaxWaiting; });
    append_locked(frame, std::move(descriptors));
  }
  wake();
}

void OutgoingFrames::put_now(const wire::pb::FromWorker& frame) {
  std::lock_guard lock(mutex_);
  append_locked(frame, {});
}

void OutgoingFrames::append_locked(const wire::pb::FromWorker& frame, std::vector<os::UniqueFd> descriptors) {
  auto bytes = wire::encode(frame);
  GW_ASSERT(bytes.has_value());  // the maker of a frame keeps it short
  waiting_.push_back({*std::move(bytes), std::move(descriptors)});
}

void OutgoingFrames::wake() {
  const std::uint64_t one = 1;
  // Fails only when the count is at its end, and then the loop is awake.
  [[maybe_unused]] const ssize_t put = ::write(wake_.get(), &one, sizeof one);
}

std::deque<os::Message> OutgoingFrames::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof count);  // does not wait: EFD_NONBLOCK
  return take_queued();
}

std::deque<os::Message> OutgoingFrames::take_queued() {
  std::lock_guard lock(mutex_);
  room_.notify_all();
  return std::exchange(waiting_, {});
}

}  // namespace gw::worker
