// Latches, barriers, semaphores, stop tokens, atomic waits, and threads that spin.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <latch>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

void barriers() {
  int phases = 0, sum = 0;
  std::atomic<int> arrived = 0;
  std::barrier barrier(4, [&]() noexcept {
    ++phases;
    sum += arrived.exchange(0);
  });
  std::barrier<> plain(4);
  std::latch start(1), done(4);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      start.wait();
      for (int k = 0; k < 3; ++k) {
        ++arrived;
        barrier.arrive_and_wait();
        plain.arrive_and_wait();
      }
      done.count_down();
    });
  start.count_down();
  done.wait();
  std::printf("barrier: %d phases, %d arrivals\n", phases, sum);
}

void semaphores() {
  std::counting_semaphore<3> room(3);
  std::atomic<int> inside = 0, most = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      room.acquire();
      const int now = ++inside;
      for (int before = most; now > before && !most.compare_exchange_weak(before, now);) {
      }
      std::this_thread::sleep_for(1ms);
      --inside;
      room.release();
    });
  threads.clear();
  std::binary_semaphore never(0);
  std::printf("semaphore: most %d, never %d %d\n", most.load(), never.try_acquire(), never.try_acquire_for(3ms));
}

void stop_tokens() {
  int turns = 0;
  bool called = false;
  {
    std::jthread worker([&](std::stop_token token) {
      const std::stop_callback callback(token, [&] { called = true; });
      std::mutex mutex;
      std::condition_variable_any condition;
      std::unique_lock lock(mutex);
      while (!condition.wait(lock, token, [] { return false; }) && !token.stop_requested()) ++turns;
    });
    std::this_thread::yield();
  }
  std::printf("stopped: called %d, turns %d\n", called, turns);
}

void spinning() {
  std::atomic<bool> go = false;
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  int count = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!go) {
      }
      for (int k = 0; k < 5; ++k) {
        while (lock.test_and_set()) {
        }
        const int before = count;
        std::this_thread::yield();
        count = before + 1;
        lock.clear();
      }
    });
  go = true;
  threads.clear();
  std::printf("spinning: %d\n", count);
}

void atomic_waits() {
  std::atomic<int> turn = 0;
  std::vector<int> order;
  std::vector<std::jthread> threads;
  for (int i = 3; i >= 0; --i)
    threads.emplace_back([&, i] {
      for (int now; (now = turn.load()) != i;) turn.wait(now);
      order.push_back(i);
      turn = i + 1;
      turn.notify_all();
    });
  threads.clear();
  std::printf("order %d %d %d %d\n", order[0], order[1], order[2], order[3]);
  auto shared = std::make_shared<int>(1);
  std::jthread([&] { std::atomic_store(&shared, std::make_shared<int>(2)); }).join();
  std::printf("shared %d\n", *std::atomic_load(&shared));
}

}  // namespace

int main() {
  barriers();
  semaphores();
  stop_tokens();
  spinning();
  atomic_waits();
}
