// Threads that sleep let others run, and wake in the order of their deadlines.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::thread> threads;
  const auto start = std::chrono::steady_clock::now();
  for (int i : {3, 1, 2})
    threads.emplace_back([&, i] {
      std::this_thread::sleep_until(start + i * 100ms);
      const std::lock_guard lock(mutex);
      order.push_back(i);
    });
  bool done = false;
  threads.emplace_back([&] {
    for (;;) {  // polls without sleep
      const std::lock_guard lock(mutex);
      if (order.size() == 3) break;
    }
    done = true;
  });
  for (auto& thread : threads) thread.join();
  std::printf("%d %d %d, done %d\n", order[0], order[1], order[2], done);
}
