#pragma once
// The lanes of a claim: how much of it may run now.

#include <cstdint>
#include <optional>

#include "base/reached.h"
#include "job/actions.h"

namespace gw::job {

// A claim without lanes is paused with its worker; docs/design/017-lending.md. A value without threads.
class WorkerLanes {
 public:
  explicit WorkerLanes(std::uint32_t lanes) : lanes_(lanes) {}

  // The lanes that threads and tasks may use when the worker runs.
  std::uint32_t count() const { return lanes_; }
  bool paused() const { return paused_; }
  // 0: the worker is paused. True: count() has changed.
  bool set(std::uint32_t lanes, std::optional<WorkerId> worker, Actions& out) {
    const bool pause = lanes == 0;
    if (worker && pause != paused_) {
      GW_REACHED("host: a worker was paused, or goes on");
      paused_ = pause;
      out.add(PauseWorker{*worker, pause});
    }
    if (pause || lanes == lanes_) return false;
    lanes_ = lanes;
    return true;
  }
  // The next worker runs.
  void on_worker_died() { paused_ = false; }

 private:
  std::uint32_t lanes_;
  bool paused_ = false;
};

}  // namespace gw::job
