#pragma once
// A number that two processes see, also when one of them has died.

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "os/files/unique_fd.h"

namespace gw::os {

// A page of memory with one counter in it. The other process may be hostile: it can set any value, but cannot remove the page, and the
// value is only used in a sentence for users.
class SharedCounter {
 public:
  static Result<SharedCounter> make();
  // From the descriptor of one made by another process.
  static Result<SharedCounter> attach(UniqueFd fd);
  SharedCounter(SharedCounter&& other) noexcept;
  SharedCounter& operator=(SharedCounter&&) = delete;
  ~SharedCounter();

  int fd() const { return fd_.get(); }
  void add(std::int32_t change) { counter_->fetch_add(change, std::memory_order_relaxed); }
  std::int32_t value() const { return counter_->load(std::memory_order_relaxed); }

 private:
  using Counter = std::atomic<std::int32_t>;
  static_assert(Counter::is_always_lock_free);
  SharedCounter(UniqueFd fd, Counter* counter) : fd_(std::move(fd)), counter_(counter) {}

  UniqueFd fd_;
  Counter* counter_;
};

}  // namespace gw::os
