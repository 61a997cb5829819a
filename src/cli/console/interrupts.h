#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/result.h"
#include "os/files/unique_fd.h"

namespace gw::cli {

// Turns Ctrl-C, SIGTERM and SIGHUP into calls. Signals that were ignored when the command was started (nohup) stay ignored.
//
// The signals are blocked from make() on in the calling thread and every thread it starts later; watch() hands them to callbacks on a
// thread of its own: the first signal to `first`, the second to `second`. If the process is still there kPatience after the second one, or
// a third one comes, it ends with ExitCode::interrupted. Before watch() they are held back.
class Interrupts {
 public:
  static constexpr int kPatienceMilliseconds = 2000;

  static Result<std::unique_ptr<Interrupts>> make();
  ~Interrupts();

  struct Callbacks {
    std::function<void()> first, second;
  };
  // At most once.
  void watch(Callbacks callbacks);
  // No callback runs afterwards.
  void stop();
  // Whether a signal has arrived. REQUIRES: not between watch() and stop().
  bool came() const { return count_ > 0; }

 private:
  Interrupts(os::UniqueFd signals, os::UniqueFd done) : signals_(std::move(signals)), done_(std::move(done)) {}
  void run(const Callbacks& callbacks);
  enum class Event { signal, done, patience_over };
  Event next() const;

  os::UniqueFd signals_;  // signalfd
  os::UniqueFd done_;     // eventfd
  int count_ = 0;
  std::thread thread_;
};

}  // namespace gw::cli
