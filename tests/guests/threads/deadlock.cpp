// Each of two threads waits for the mutex that the other one holds.
#include <cstdio>
#include <mutex>
#include <thread>

int main() {
  std::printf("before\n");
  std::mutex a, b;
  std::thread other([&] {
    const std::lock_guard first(b);
    std::this_thread::yield();
    const std::lock_guard second(a);
  });
  const std::lock_guard first(a);
  std::this_thread::yield();
  const std::lock_guard second(b);
  other.join();
}
