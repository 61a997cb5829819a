#pragma once
// A thread that handles all items that were added while it was busy as one batch.

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"

namespace gw::node {

// Passes all items added since the last call, in order, to one function on one thread, so that a cost per call, such as a flush, is shared
// by all of them. The destructor waits until all items are done.
//
// Limit: Config::waiting items that the function has not taken; add() blocks then. add() may be called from any other thread.
template <class Item>
class BatchThread {
 public:
  struct Config {
    std::string name;  // at most 15 characters
    std::size_t waiting = 4096;
    std::chrono::milliseconds idle{0};  // after so long without an item the function is called with none; 0: never
  };
  using Work = std::function<void(std::vector<Item>)>;

  BatchThread(Config config, Work work) : config_(std::move(config)), work_(std::move(work)), thread_([this] { run(); }) {
    pthread_setname_np(thread_.native_handle(), config_.name.substr(0, 15).c_str());
  }
  ~BatchThread() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  BatchThread(const BatchThread&) = delete;
  BatchThread& operator=(const BatchThread&) = delete;

  void add(Item item) {
    GW_ASSERT(std::this_thread::get_id() != thread_.get_id());
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return items_.size() < config_.waiting; });
      items_.push_back(std::move(item));
    }
    changed_.notify_all();
  }

 private:
  void run() {
    for (;;) {
      std::vector<Item> taken;
      {
        std::unique_lock lock(mutex_);
        const auto due = [this] { return ending_ || !items_.empty(); };
        if (config_.idle.count() == 0) {
          changed_.wait(lock, due);
        } else {
          changed_.wait_for(lock, config_.idle, due);
        }
        if (ending_ && items_.empty()) return;
        taken.swap(items_);
      }
      changed_.notify_all();
      work_(std::move(taken));
    }
  }

  const Config config_;
  const Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item> items_;  // under mutex_
  bool ending_ = false;      // under mutex_
  std::thread thread_;       // last: it uses all the others
};

}  // namespace gw::node
