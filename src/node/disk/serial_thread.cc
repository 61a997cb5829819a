#include "node/disk/serial_thread.h"

#include <pthread.h>

#include "base/check.h"

namespace gw::node {

SerialThread::SerialThread(Config config) : config_(std::move(config)), thread_([this] { run(); }) {
  pthread_setname_np(thread_.native_handle(), config_.name.substr(0, 15).c_str());
}

SerialThread::~SerialThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SerialThread::add(Task task) {
  GW_ASSERT(std::this_thread::get_id() != thread_.get_id());
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.size() < config_.waiting; });
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

bool SerialThread::try_add(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.size() >= config_.waiting) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
  return true;
}

void SerialThread::run() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    changed_.notify_all();
    task();
  }
}

}  // namespace gw::node
