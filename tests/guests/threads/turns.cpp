// Prints the order of the turns that threads take, which is another one at each native run.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

int main() {
  std::mutex mutex;
  std::vector<int> order;
  std::atomic<int> looks = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 8; ++k) {
        {
          const std::lock_guard lock(mutex);
          if (i % 2) std::this_thread::yield();
          order.push_back(i);
        }
        for (int n = 0; n < 40 * i; ++n) looks += looks.load() % 2 + 1;
      }
    });
  for (auto& thread : threads) thread.join();
  for (int i : order) std::printf("%d ", i);
  std::printf("%d\n", looks.load());
}
