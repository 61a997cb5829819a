#pragma once
// Watches running isolates: enforces limits, and pauses guests that ignore suspend requests.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace gw::isolate {

class RunControl;

// A thread of the process that looks at each isolate in a run every kTick, and sleeps while none is. At most one isolate per pool thread is
// in a run.
class Watchdog {
 public:
  static constexpr std::chrono::milliseconds kTick{10};

  Watchdog();
  ~Watchdog();

  // Around a run. After forget() the control is not touched any more.
  void watch(RunControl& control);
  void forget(RunControl& control);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RunControl*> running_;  // guarded by mutex_, like all below
  bool idle_ = false;                 // sleeps until watch(); a tick in progress looks by itself
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace gw::isolate
