#pragma once
// A thread for what may block: disks, name servers.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace gw::node {

// Does one thing after another, in the order they were added, on a thread of its own. Whoever adds to a full queue waits, which is the
// back-pressure of a slow disk; try_add() is for those that can do without.
//
// Going, it finishes what was added and then ends the thread. Any thread may add, but not a task of its own.
class SerialThread {
 public:
  using Task = std::function<void()>;
  struct Config {
    std::string name;  // as the system shows it; at most 15 characters
    std::size_t waiting = 1024;
  };

  explicit SerialThread(Config config);
  ~SerialThread();
  SerialThread(const SerialThread&) = delete;
  SerialThread& operator=(const SerialThread&) = delete;

  void add(Task task);
  // False: the queue is full and the task was not taken.
  bool try_add(Task task);

 private:
  void run();

  const Config config_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace gw::node
