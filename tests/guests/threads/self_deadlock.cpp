// A program without other threads waits for a mutex that it holds.
#include <cstdio>
#include <mutex>

std::mutex mutex;

int main() {
  std::printf("before\n");
  mutex.lock();
  mutex.lock();
}
