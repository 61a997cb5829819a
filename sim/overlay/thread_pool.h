#pragma once
// Threads that share out work.

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace gw::sim::overlay_simulation {

// The caller and its helpers. There is one job for the whole life, which is done on many items, again and again, each time for a few
// microseconds: so a helper that has nothing to do looks around for a while before it sleeps, and nobody waits for one that sleeps.
class ThreadPool {
 public:
  // Does the job on the item of that number; `thread_index` is the thread's: no two that run at a time have the same, the caller's is 0.
  using Job = std::function<void(std::uint32_t item, unsigned thread_index)>;

  // `threads`: with the caller's, at least 1.
  ThreadPool(unsigned threads, Job job);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  // Does it on all items below `count`, in no order; returns when all are done.
  void for_each(std::uint32_t count);

 private:
  // Work that is there: how many items, and which is the next.
  static constexpr std::uint64_t of(std::uint64_t count, std::uint64_t next) { return (count << 32) | next; }
  static bool any(std::uint64_t work) { return (work >> 32) > (work & 0xffffffff); }

  void help(unsigned thread_index);
  // Until nothing is left to begin with.
  void work_on(unsigned thread_index);

  const Job job_;
  std::atomic<std::uint64_t> work_ = of(0, 0);
  std::atomic<std::uint32_t> done_ = 0;
  std::atomic<bool> over_ = false;
  std::vector<std::thread> helpers_;  // last: they use all the others
};

}  // namespace gw::sim::overlay_simulation
