// Two producers and two consumers share a bounded queue.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kItems = 60;
constexpr std::size_t kRoom = 4;

class Queue {
 public:
  void put(int item) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [&] { return items_.size() < kRoom; });
    items_.push_back(item);
    has_items_.notify_one();
  }
  // -1: closed and empty.
  int take() {
    std::unique_lock lock(mutex_);
    has_items_.wait(lock, [&] { return !items_.empty() || closed_; });
    if (items_.empty()) return -1;
    const int item = items_.front();
    items_.pop_front();
    has_room_.notify_one();
    return item;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    has_items_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable has_room_, has_items_;
  std::deque<int> items_;
  bool closed_ = false;
};

}  // namespace

int main() {
  Queue queue;
  std::mutex mutex;
  long sum = 0, count = 0;
  std::vector<std::thread> producers, consumers;
  for (int p = 0; p < 2; ++p)
    producers.emplace_back([&, p] {
      for (int i = 0; i < kItems; ++i) queue.put(p * 1000 + i);
    });
  for (int c = 0; c < 2; ++c)
    consumers.emplace_back([&] {
      for (int item; (item = queue.take()) >= 0;) {
        const std::lock_guard lock(mutex);
        sum += item;
        ++count;
      }
    });
  for (auto& thread : producers) thread.join();
  queue.close();
  for (auto& thread : consumers) thread.join();
  std::printf("%ld items, sum %ld\n", count, sum);
}
