#include "isolate/engine/watchdog.h"

#include <pthread.h>

#include <utility>

#include "base/check.h"
#include "isolate/run_control.h"
#include "os/clock.h"

namespace gw::isolate {

Watchdog::Watchdog() : thread_([this] { run(); }) { pthread_setname_np(thread_.native_handle(), "gw-watchdog"); }

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    GW_ASSERT(running_.empty());
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::watch(RunControl& control) {
  std::lock_guard lock(mutex_);
  running_.push_back(&control);
  if (std::exchange(idle_, false)) changed_.notify_all();
}

void Watchdog::forget(RunControl& control) {
  std::lock_guard lock(mutex_);
  std::erase(running_, &control);
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    idle_ = running_.empty();
    changed_.wait(lock, [this] { return stopping_ || !idle_; });
    if (changed_.wait_for(lock, kTick, [this] { return stopping_; })) return;
    auto now = os::monotonic_now();
    for (RunControl* control : running_) control->on_tick(now);
  }
}

}  // namespace gw::isolate
