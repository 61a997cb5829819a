#pragma once
// Every deadline of one connection.

#include <array>
#include <chrono>
#include <optional>

#include "base/result.h"
#include "transport/connection/frame.h"

namespace gw::transport {

using Time = std::chrono::steady_clock::time_point;

// Decides when a connection has to ping and when it is lost. Only whole frames count as a sign of life, so a peer that sends single bytes
// counts as silent. An idle connection costs next to nothing: a quick answer is expected only after a message was sent, since a peer has
// many connections that it seldom uses. Events are passed in with their time; pure.
class Liveness {
 public:
  struct Config {
    std::chrono::milliseconds handshake{10'000};    // from the start of the connection to the other side's hello
    std::chrono::milliseconds ping_after{10'000};   // since something was sent that no frame from the other side has followed
    std::chrono::milliseconds silence{30'000};      // the same, then it is lost
    std::chrono::milliseconds idle{120'000};        // without any frame: then a ping, so that NATs on the way keep the connection
    std::chrono::milliseconds fast_ping{1'500};     // without a frame, of a connection that others depend on
    std::chrono::milliseconds fast_silence{4'000};  // sooner than a job gives up a peer (overlay/failures/link_watch.h)
    std::chrono::milliseconds late{500};            // a tick that comes so late: this process was paused
    std::chrono::milliseconds message{60'000};      // from a message's first frame to its last
    std::chrono::milliseconds write{30'000};        // for one batch to be taken by the other side
    std::chrono::milliseconds probe{5'000};         // to answer when there is reason to doubt
    std::chrono::milliseconds linger{2'000};        // to take our goodbye and close
  };

  Liveness(Config config, Time now) : config_(config), handshake_until_(now + config.handshake) {}

  void on_ready(Time now);  // the hello came
  void on_frame(Time now);
  // A message of ours is on its way.
  void on_sent(Time now) { expect_frame(now + ping_after(), now + silence()); }
  // Whether a message of this lane is unfinished after the frame that just came.
  void on_lane(Time now, Lane lane, bool unfinished);
  void on_write_started(Time now) { write_until_ = now + config_.write; }
  void on_write_done() { write_until_.reset(); }
  // Whether the end of the connection must be noticed soon, also while it is unused.
  enum class LossDetection : std::uint8_t { normal, fast };
  void set_loss_detection(Time now, LossDetection detection);
  // There is a sign that the other side has lost this connection: it must answer the ping that is due now.
  void doubt(Time now);
  // We have ended it: from now on only the linger deadline counts.
  void on_goodbye(Time now);

  enum class Need { nothing, ping };
  // Kind::timeout: the connection is lost, and why. A ping counts as sent when it was asked for.
  Result<Need> on_tick(Time now);
  // When on_tick() will have something to say.
  Time next_deadline() const;

 private:
  void expect_frame(Time ping_at, Time until);
  bool is_fast() const { return loss_detection_ == LossDetection::fast; }
  std::chrono::milliseconds ping_after() const { return is_fast() ? config_.fast_ping : config_.ping_after; }
  std::chrono::milliseconds silence() const { return is_fast() ? config_.fast_silence : config_.silence; }

  const Config config_;
  LossDetection loss_detection_ = LossDetection::normal;
  std::optional<Time> handshake_until_;
  std::optional<Time> silent_until_;  // a frame is expected until then
  std::optional<Time> ping_at_;
  std::optional<Time> write_until_, linger_until_;
  std::array<std::optional<Time>, kLanes> message_until_;
};

}  // namespace gw::transport
