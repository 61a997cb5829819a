#pragma once
// Accepts the connections of a server.

#include <chrono>
#include <functional>
#include <list>
#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "httpd/beast.h"
#include "transport/task_group.h"

namespace gw::httpd {

// Accepts connections and runs a Session for each. A Session has run() (a coroutine: its whole life), stop(), and waiting_since(): since
// when its client owes it a request, if it does.
//
// Limit: Config::connections. When it is reached, the session that has waited longest for its client is closed in favour of the new
// connection, so that silent clients do not keep others out; if every session is at work the new connection is refused. Both write a line
// to the log of `area`.
//
// Belongs to the thread of its io_context. REQUIRES: stop() has returned before the destructor runs.
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
    for (const Entry& entry : sessions_) entry.session->stop();
    co_await tasks_.wait();
  }

 private:
  struct Entry {
    std::unique_ptr<Session> session;
    bool closing = false;  // stopped to make room; its coroutine ends in one of the next turns
  };
  using Sessions = std::list<Entry>;
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
    if (open_ >= config_.connections && !close_longest_waiting())
      return log::warn(config_.area, "connection refused", kv("why", "every connection is in use"), kv("limit", config_.connections));
    auto session = config_.make(std::move(socket));
    if (!session) return log::warn(config_.area, "connection refused", kv("why", session.error().detail));
    sessions_.push_back({*std::move(session)});
    ++open_;
    tasks_.spawn("session", serve(std::prev(sessions_.end())));
  }

  // Returns whether there was one.
  bool close_longest_waiting() {
    auto longest = sessions_.end();
    for (auto entry = sessions_.begin(); entry != sessions_.end(); ++entry) {
      const auto since = entry->closing ? std::nullopt : entry->session->waiting_since();
      if (since && (longest == sessions_.end() || since < longest->session->waiting_since())) longest = entry;
    }
    if (longest == sessions_.end()) return false;
    log::warn(config_.area, "closed an idle connection to make room for a new one", kv("limit", config_.connections));
    longest->closing = true;
    --open_;
    longest->session->stop();
    return true;
  }

  asio::awaitable<void> serve(typename Sessions::iterator entry) {
    co_await entry->session->run();
    if (!entry->closing) --open_;
    sessions_.erase(entry);
  }

  asio::io_context& io_;
  const Config config_;
  typename Protocol::acceptor acceptor_;
  bool stopping_ = false;
  Sessions sessions_;
  std::size_t open_ = 0;  // sessions that are not closing
  transport::TaskGroup tasks_;
};

}  // namespace gw::httpd
