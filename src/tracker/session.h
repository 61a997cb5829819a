#pragma once
// A connection to a tracker.

#include "tracker/tracker.h"

namespace gw::tracker {

// Reads requests and answers them, one after the other. A coroutine of the tracker, which outlives it.
class Session {
 public:
  Session(httpd::Tcp::socket socket, Tracker& tracker, std::string visitor);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  asio::awaitable<void> run();
  void stop() { exchange_.stream().close(); }
  std::optional<std::chrono::steady_clock::time_point> waiting_since() const { return exchange_.waiting_since(); }

 private:
  httpd::Exchange<httpd::Tcp> exchange_;
  Tracker& tracker_;
  const std::string visitor_;  // its address
};

}  // namespace gw::tracker
