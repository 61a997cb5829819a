#pragma once
// Where connections come in.

#include <functional>
#include <list>
#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "httpd/beast.h"
#include "transport/task_group.h"

namespace gw::httpd {

// Accepts connections and runs a Session for each, which has run() (a coroutine: its whole life) and stop().
//
// Belongs to the thread of its io_context. REQUIRES: stop() has returned before it goes. Limit: Config::connections; who comes then is
// closed at once, with a line in the log of `area`.
template <class Protocol, class Session>
class SessionServer {
 public:
  using Socket = typename Protocol::socket;
  struct Config {
    std::string_view area;  // of the log
    std::size_t connections = 64;
    // The session for a connection, or why there is none.
    std::function<Result<std::unique_ptr<Session>>(Socket)> make;
  };

  SessionServer(asio::io_context& io, Config config) : io_(io), config_(std::move(config)), acceptor_(io), tasks_(io.get_executor()) {}
  ~SessionServer() { GW_ASSERT(sessions_.empty()); }

  // REQUIRES: listens, and this is the first call.
  void open(typename Protocol::acceptor acceptor) {
    acceptor_ = std::move(acceptor);
    tasks_.spawn("accept", accept());
  }

  // Closes all connections and waits for their end; nothing new begins.
  asio::awaitable<void> stop() {
    stopping_ = true;
    error_code ignored;
    acceptor_.close(ignored);
    for (const auto& session : sessions_) session->stop();
    co_await tasks_.wait();
  }

 private:
  using Sessions = std::list<std::unique_ptr<Session>>;
  static constexpr std::chrono::milliseconds kPause{100};  // when the system has no descriptors left

  asio::awaitable<void> accept() {
    asio::steady_timer pause(io_);
    while (!stopping_) {
      auto [error, socket] = co_await acceptor_.async_accept(kAsTuple);
      if (stopping_) co_return;
      if (!error) {
        admit(std::move(socket));
        continue;
      }
      log::warn(config_.area, "cannot accept a connection", kv("why", error.message()));
      pause.expires_after(kPause);
      co_await pause.async_wait(kAsTuple);
    }
  }

  void admit(Socket socket) {
    if (sessions_.size() >= config_.connections)
      return log::warn(config_.area, "connection refused", kv("why", "there are too many already"), kv("limit", config_.connections));
    auto session = config_.make(std::move(socket));
    if (!session) return log::warn(config_.area, "connection refused", kv("why", session.error().detail));
    sessions_.push_back(*std::move(session));
    tasks_.spawn("session", serve(std::prev(sessions_.end())));
  }

  asio::awaitable<void> serve(typename Sessions::iterator session) {
    co_await (*session)->run();
    sessions_.erase(session);
  }

  asio::io_context& io_;
  const Config config_;
  typename Protocol::acceptor acceptor_;
  bool stopping_ = false;
  Sessions sessions_;
  transport::TaskGroup tasks_;
};

}  // namespace gw::httpd
