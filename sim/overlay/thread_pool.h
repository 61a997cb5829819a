#pragma once
// A thread pool for many short parallel loops.

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace gw::sim::overlay_simulation {

// The caller and its helper threads run the same function over many items, thousands of times, each time for a few microseconds. Therefore
// an idle helper spins for a while before it sleeps, and for_each() does not wait for a helper that sleeps.
class ThreadPool {
 public:
  // Handles the item with that number. No two threads that run at a time have the same `thread_index`; the caller's is 0.
  using Job = std::function<void(std::uint32_t item, unsigned thread_index)>;

  // `threads`: at least 1, including the caller's.
  ThreadPool(unsigned threads, Job job);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  // Handles all items below `count`, in any order; returns when all are done.
  void for_each(std::uint32_t count);

 private:
  // The present loop: the number of items, and the next one.
  static constexpr std::uint64_t of(std::uint64_t count, std::uint64_t next) { return (count << 32) | next; }
  static bool any(std::uint64_t work) { return (work >> 32) > (work & 0xffffffff); }

  void help(unsigned thread_index);
  // Takes items until none is left.
  void work_on(unsigned thread_index);

  const Job job_;
  std::atomic<std::uint64_t> work_ = of(0, 0);
  std::atomic<std::uint32_t> done_ = 0;
  std::atomic<bool> over_ = false;
  std::vector<std::thread> helpers_;  // last: they use all the others
};

}  // namespace gw::sim::overlay_simulation
