// Contended, recursive, timed and shared mutexes; std::lock; call_once; a static object whose constructor waits.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

template <class F>
void in_threads(int count, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(f, i);
  for (auto& thread : threads) thread.join();
}

void contended() {
  std::mutex mutex;
  int count = 0;
  in_threads(5, [&](int) {
    for (int i = 0; i < 20; ++i) {
      const std::lock_guard lock(mutex);
      const int before = count;
      std::this_thread::yield();
      count = before + 1;
    }
  });
  std::printf("contended %d\n", count);
}

void recursive() {
  std::recursive_mutex mutex;
  int depth = 0, sum = 0;
  const auto descend = [&](auto& self, int levels) -> void {
    const std::lock_guard lock(mutex);
    ++depth;
    std::this_thread::yield();
    sum += depth;
    if (levels > 1) self(self, levels - 1);
    --depth;
  };
  in_threads(3, [&](int) { descend(descend, 4); });
  std::printf("recursive %d, depth %d\n", sum, depth);
}

void timed() {
  std::timed_mutex mutex;
  mutex.lock();
  std::thread([&] {
    std::printf("timed %d", mutex.try_lock());
    std::printf(" %d", mutex.try_lock_for(5ms));
  }).join();
  mutex.unlock();
  std::thread([&] {
    std::printf(" %d\n", mutex.try_lock_for(5s));
    mutex.unlock();
  }).join();
}

void shared() {
  std::shared_mutex mutex;
  int value = 0, torn = 0, reads = 0;
  std::mutex count;
  in_threads(6, [&](int i) {
    for (int k = 0; k < 10; ++k) {
      if (i < 2) {
        const std::unique_lock lock(mutex);
        ++value;
        std::this_thread::yield();
        ++value;
      } else {
        const std::shared_lock lock(mutex);
        const int seen = value;
        std::this_thread::yield();
        const std::lock_guard guard(count);
        torn += seen % 2 + (seen != value);
        ++reads;
      }
    }
  });
  std::printf("shared value %d, %d reads, %d torn\n", value, reads, torn);
}

void two_at_once() {
  std::mutex a, b;
  int count = 0;
  in_threads(4, [&](int i) {
    for (int k = 0; k < 10; ++k) {
      if (i % 2) {
        const std::scoped_lock lock(a, b);
        ++count;
        std::this_thread::yield();
      } else {
        const std::scoped_lock lock(b, a);
        ++count;
        std::this_thread::yield();
      }
    }
  });
  std::printf("two at once %d\n", count);
}

std::once_flag once;
int calls = 0;

void once_only() {
  int failed = 0;
  std::mutex mutex;
  in_threads(4, [&](int) {
    try {
      std::call_once(once, [] {
        std::this_thread::yield();
        if (++calls == 1) throw std::runtime_error("not yet");
      });
    } catch (const std::runtime_error&) {
      const std::lock_guard lock(mutex);
      ++failed;
    }
  });
  std::printf("once: %d calls, %d failed\n", calls, failed);
}

struct Slow {
  Slow() {
    ++made;
    std::this_thread::sleep_for(2ms);
    value = 7;
  }
  int value = 0;
  static inline int made = 0;
};

int slow_value() {
  static Slow slow;
  return slow.value;
}

void static_object() {
  int sum = 0;
  std::mutex mutex;
  in_threads(4, [&](int) {
    const int value = slow_value();
    const std::lock_guard lock(mutex);
    sum += value;
  });
  std::printf("static: made %d, sum %d\n", Slow::made, sum);
}

}  // namespace

int main() {
  contended();
  recursive();
  timed();
  shared();
  two_at_once();
  once_only();
  static_object();
  const std::mutex unused;
  std::mutex locked;
  locked.lock();
  std::printf("self: %d\n", std::thread::hardware_concurrency() > 0);
  locked.unlock();
}
