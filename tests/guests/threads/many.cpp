// As many threads as a program may have, and one more.
#include <pthread.h>
#include <cstdio>
#include <system_error>
#include <thread>
#include <vector>

int main() {
  std::vector<std::thread> threads;
  long sum = 0;
  bool refused = false;
  for (int i = 0; i < 2000 && !refused; ++i) {
    try {
      threads.emplace_back([&sum, i] {
        std::this_thread::yield();
        sum += i;
      });
    } catch (const std::system_error& error) {
      refused = error.code() == std::errc::resource_unavailable_try_again;
    }
  }
  for (auto& thread : threads) thread.join();
  std::printf("%zu threads, sum %ld, refused %d\n", threads.size(), sum, refused);
}
