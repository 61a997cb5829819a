#pragma once
// A thread for blocking calls: disks, name servers.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace gw::node {

// Runs tasks one after the other on its own thread. add() to a full queue blocks, which is the back-pressure of a slow disk; try_add() does
// not.
//
// The destructor finishes all added tasks and then ends the thread. Any thread may add, except a task of this object.
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
