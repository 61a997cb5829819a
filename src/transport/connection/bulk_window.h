#pragma once
// How much bulk may be on its way to a peer.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/result.h"
#include "transport/connection/liveness.h"

namespace gw::transport {

// Written bytes cannot be overtaken: control waits behind all bulk that the kernels of both sides hold, which is megabytes if the
// other side is slow. So the sender counts bulk that the receiver has not taken out of its socket yet (the receiver tells, in credit
// frames), and keeps it below a window.
//
// The window follows the path: as long as bytes are taken nearly as soon after they were sent as ever, more are let out; when they begin
// to queue, fewer. So a long path is filled, and a short one to a slow peer is not. (The idea of TCP Vegas, as LEDBAT has it.) The
// shortest time is found again now and then with a small window, since paths change. Told the time; pure.
class BulkWindow {
 public:
  struct Config {
    std::size_t least = 512u << 10;
    std::size_t most = 16u << 20;
    std::chrono::microseconds queueing{2'000};  // that is tolerated, or a quarter of the shortest time if that is more
    std::chrono::seconds renewal{30};           // of the shortest time
  };

  explicit BulkWindow(Config config) : config_(config), window_(config.least) {}

  // How many bytes may be written now.
  std::size_t room() const { return window_ > in_flight() ? window_ - in_flight() : 0; }
  void on_sent(Time now, std::size_t bytes);
  // The other side has taken so many bytes since the connection began. Kind::invalid: more than were sent, or fewer than before.
  Status on_credit(Time now, std::uint64_t taken);

  std::size_t window() const { return window_; }

 private:
  using Delay = Time::duration;
  struct Mark {
    std::uint64_t sent;  // up to here
    Time at;
  };

  std::size_t in_flight() const { return static_cast<std::size_t>(sent_ - taken_); }
  void adapt(Time now, Delay delay, std::size_t credited);

  const Config config_;
  std::size_t window_;
  std::uint64_t sent_ = 0, taken_ = 0;
  std::deque<Mark> marks_;  // of what is in flight, oldest first; at least kMarkBytes apart
  Delay shortest_ = Delay::max();
  Time renew_at_{};      // shortest_ counts until then
  Time shrink_after_{};  // what was sent before it does not show yet that the window has been made smaller
};

}  // namespace gw::transport
