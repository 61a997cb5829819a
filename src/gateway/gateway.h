#pragma once
// The door for the people of this machine: HTTP over a unix socket.

#include <filesystem>
#include <list>
#include <memory>

#include "gateway/session.h"
#include "os/local_socket.h"
#include "transport/task_group.h"

namespace gw::gateway {

// Listens at a path that only this user may connect to, and answers as docs/api/openapi.yaml says. Knows the peer behind it as a
// node::Control.
//
// Belongs to the node thread. REQUIRES: stop() has returned before it goes; the control outlives it. Limits: Config.
class Gateway {
 public:
  struct Config {
    std::filesystem::path socket;
    std::size_t connections = 64;
    Session::Config session;
  };

  // Kind::overloaded: another daemon listens there.
  static Result<std::unique_ptr<Gateway>> open(asio::io_context& io, node::Control& control, Config config);
  ~Gateway();

  // Closes all connections and waits for their end; nothing new begins.
  asio::awaitable<void> stop();

 private:
  Gateway(asio::io_context& io, node::Control& control, Config config, os::LocalListener listener);

  asio::awaitable<void> accept();
  void admit(Local::socket socket);
  asio::awaitable<void> serve(std::list<Session>::iterator session);

  asio::io_context& io_;
  node::Control& control_;
  const Config config_;
  os::LocalListener listener_;
  Local::acceptor acceptor_;
  bool stopping_ = false;
  std::list<Session> sessions_;
  transport::TaskGroup tasks_;
};

}  // namespace gw::gateway
