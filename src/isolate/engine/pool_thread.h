#pragma once
// An OS thread that runs guests.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>

#include <pthread.h>
#include <time.h>

#include "base/result.h"

namespace gw::isolate {

class WasmHeap;

// A named thread with a large stack, one engine heap, and a bounded queue of functions that it runs one after the other, each to its end.
// Isolates are pinned to the thread they were made on; thousands may share one.
//
// Made by Engine::make_thread(). Outlives its isolates. The destructor runs what is queued and joins.
class PoolThread {
 public:
  // Whether the engine ends a guest that has used up the stack. Lifted only by a test, which shows that such a guest ends the process then.
  enum class StackLimit : std::uint8_t { held, lifted };

  struct Config {
    std::string name = "gw-pool";         // as debuggers and top show it; at most 15 characters are kept
    std::size_t stack_bytes = 64u << 20;  // deep recursion in a guest uses the native stack
    std::size_t queue_max = 4096;
    StackLimit stack_limit = StackLimit::held;
  };
  using Task = std::function<void()>;

  static Result<std::unique_ptr<PoolThread>> make(Config config);
  ~PoolThread();
  PoolThread(const PoolThread&) = delete;
  PoolThread& operator=(const PoolThread&) = delete;

  // Any thread. Kind::overloaded when the queue is full.
  Status post(Task task);

  // Runs `function` on this thread and returns its result; at once when already there. Waits for what is queued before it, and for room.
  // Never call it from another pool thread: two that wait for each other would wait forever.
  template <class F>
  std::invoke_result_t<F> call(F&& function);

  bool is_current() const { return pthread_equal(pthread_self(), thread_) != 0; }
  clockid_t cpu_clock() const { return cpu_clock_; }
  WasmHeap& heap() { return *heap_; }

 private:
  explicit PoolThread(Config config);
  static void* entry(void* self);
  void run();
  void run_tasks();
  void enqueue_when_room(Task task);

  Config config_;
  pthread_t thread_{};
  bool joinable_ = false;
  clockid_t cpu_clock_{};
  std::unique_ptr<WasmHeap> heap_;    // made and destroyed on the thread itself
  std::optional<Error> start_error_;  // set before started_ is counted down
  std::latch* started_ = nullptr;     // make() waits there

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;  // guarded by mutex_
  bool stopping_ = false;   // guarded by mutex_
};

template <class F>
std::invoke_result_t<F> PoolThread::call(F&& function) {
  using T = std::invoke_result_t<F>;
  if (is_current()) return function();
  std::latch done(1);
  if constexpr (std::is_void_v<T>) {
    enqueue_when_room([&] {
      function();
      done.count_down();
    });
    done.wait();
  } else {
    std::optional<T> result;
    enqueue_when_room([&] {
      result.emplace(function());
      done.count_down();
    });
    done.wait();
    GW_ASSERT(result.has_value());
    return *std::move(result);
  }
}

}  // namespace gw::isolate
