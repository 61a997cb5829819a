// Futures, promises, packaged tasks, and exceptions that travel in them.
#include <chrono>
#include <cstdio>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

int sum_of(const std::vector<int>& all, std::size_t from, std::size_t to) {
  if (to - from < 100) return std::accumulate(all.begin() + from, all.begin() + to, 0);
  const std::size_t middle = from + (to - from) / 2;
  auto left = std::async(std::launch::async, sum_of, std::cref(all), from, middle);
  const int right = sum_of(all, middle, to);
  return left.get() + right;
}

void exceptions() {
  auto failing = std::async(
      std::launch::async,
      [](int n) -> int {
        try {
          throw std::runtime_error("lost " + std::to_string(n));
        } catch (const std::runtime_error&) {
          std::this_thread::yield();  // others handle exceptions meanwhile
          throw;
        }
      },
      3);
  auto other = std::async(std::launch::async, [] {
    int caught = 0;
    for (int i = 0; i < 5; ++i) {
      try {
        throw i;
      } catch (int n) {
        std::this_thread::yield();
        caught += n;
      }
    }
    return caught;
  });
  try {
    failing.get();
  } catch (const std::runtime_error& error) {
    std::printf("caught %s\n", error.what());
  }
  std::printf("other caught %d\n", other.get());
}

void promises() {
  std::promise<std::string> promise;
  auto future = promise.get_future().share();
  std::vector<std::thread> threads;
  std::vector<std::size_t> sizes(3);
  for (int i = 0; i < 3; ++i) threads.emplace_back([&, i] { sizes[i] = future.get().size(); });
  std::printf("ready %d\n", future.wait_for(1ms) == std::future_status::ready);
  promise.set_value("four");
  for (auto& thread : threads) thread.join();
  std::printf("sizes %zu %zu %zu\n", sizes[0], sizes[1], sizes[2]);
  std::future<void> broken;
  {
    std::promise<void> dropped;
    broken = dropped.get_future();
  }
  try {
    broken.get();
  } catch (const std::future_error& error) {
    std::printf("broken %d\n", error.code() == std::future_errc::broken_promise);
  }
  std::promise<void> at_exit;
  auto ended = at_exit.get_future();
  std::thread([&] { at_exit.set_value_at_thread_exit(); }).detach();
  ended.get();
  std::packaged_task<int(int)> task([](int n) { return n * n; });
  auto square = task.get_future();
  std::thread(std::move(task), 12).join();
  std::printf("square %d\n", square.get());
  std::printf("deferred %d\n", std::async(std::launch::deferred, [] { return 5; }).get());
}

}  // namespace

int main() {
  std::vector<int> numbers(800);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::printf("sum %d\n", sum_of(numbers, 0, numbers.size()));
  exceptions();
  promises();
}
