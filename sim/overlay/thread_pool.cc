#include "overlay/thread_pool.h"

#include <utility>

namespace gw::sim::overlay_simulation {
namespace {

constexpr int kLooks = 2000;  // before a helper sleeps: a fraction of a millisecond

}  // namespace

ThreadPool::ThreadPool(unsigned threads, Job job) : job_(std::move(job)) {
  for (unsigned thread_index = 1; thread_index < threads; ++thread_index)
    helpers_.emplace_back([this, thread_index] { help(thread_index); });
}

ThreadPool::~ThreadPool() {
  over_ = true;
  work_ = of(0, 1);  // a value other than the one the helpers wait on
  work_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadPool::for_each(std::uint32_t count) {
  if (helpers_.empty() || count < 2) {
    for (std::uint32_t item = 0; item < count; ++item) job_(item, 0);
    return;
  }
  done_.store(0, std::memory_order_relaxed);
  work_.store(of(count, 0), std::memory_order_release);
  work_.notify_all();
  work_on(0);
  while (done_.load(std::memory_order_acquire) != count) std::this_thread::yield();
}

void ThreadPool::work_on(unsigned thread_index) {
  std::uint64_t work = work_.load(std::memory_order_acquire);
  while (any(work)) {
    if (!work_.compare_exchange_weak(work, work + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    job_(static_cast<std::uint32_t>(work), thread_index);
    done_.fetch_add(1, std::memory_order_release);
    work = work_.load(std::memory_order_acquire);
  }
}

void ThreadPool::help(unsigned thread_index) {
  int looks = 0;
  while (!over_) {
    const std::uint64_t work = work_.load(std::memory_order_acquire);
    if (any(work)) {
      work_on(thread_index);
      looks = 0;
    } else if (++looks < kLooks) {
      std::this_thread::yield();
    } else {
      work_.wait(work);
      looks = 0;
    }
  }
}

}  // namespace gw::sim::overlay_simulation
