#include "flock/crew.h"

#include <utility>

namespace gw::sim::flock {
namespace {

constexpr int kLooks = 2000;  // before a helper sleeps: a fraction of a millisecond

}  // namespace

Crew::Crew(unsigned threads, Job job) : job_(std::move(job)) {
  for (unsigned seat = 1; seat < threads; ++seat) helpers_.emplace_back([this, seat] { help(seat); });
}

Crew::~Crew() {
  over_ = true;
  work_ = of(0, 1);  // another value than the one they wait on
  work_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void Crew::share(std::uint32_t count) {
  if (helpers_.empty() || count < 2) {
    for (std::uint32_t thing = 0; thing < count; ++thing) job_(thing, 0);
    return;
  }
  done_.store(0, std::memory_order_relaxed);
  work_.store(of(count, 0), std::memory_order_release);
  work_.notify_all();
  work_on(0);
  while (done_.load(std::memory_order_acquire) != count) std::this_thread::yield();
}

void Crew::work_on(unsigned seat) {
  std::uint64_t work = work_.load(std::memory_order_acquire);
  while (any(work)) {
    if (!work_.compare_exchange_weak(work, work + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    job_(static_cast<std::uint32_t>(work), seat);
    done_.fetch_add(1, std::memory_order_release);
    work = work_.load(std::memory_order_acquire);
  }
}

void Crew::help(unsigned seat) {
  int looks = 0;
  while (!over_) {
    const std::uint64_t work = work_.load(std::memory_order_acquire);
    if (any(work)) {
      work_on(seat);
      looks = 0;
    } else if (++looks < kLooks) {
      std::this_thread::yield();
    } else {
      work_.wait(work);
      looks = 0;
    }
  }
}

}  // namespace gw::sim::flock
