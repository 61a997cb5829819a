#pragma once
// The HTTP API of a daemon, on a unix socket.

#include <filesystem>
#include <memory>

#include "gateway/session.h"
#include "gateway/ticket_desk.h"
#include "httpd/session_server.h"
#include "os/sockets/local_socket.h"

namespace gw::gateway {

// Listens at a path that only this user may connect to and answers as docs/api/openapi.yaml says. The daemon behind it is a node::Control.
//
// Belongs to the node thread. REQUIRES: stop() has returned before the destructor runs; the control outlives the gateway. Limits: Config.
class Gateway {
 public:
  struct Config {
    std::filesystem::path socket;
    std::size_t connections = 64;
    WebAccess* web = nullptr;  // none: the dashboard is not served; outlives the gateway
    Session::Config session;
  };

  // Kind::overloaded: another daemon listens there.
  static Result<std::unique_ptr<Gateway>> open(asio::io_context& io, node::Control& control, node::JobTickets& tickets, Config config);

  // Closes all connections and waits for their end. New ones are refused.
  asio::awaitable<void> stop();

 private:
  Gateway(asio::io_context& io, node::Control& control, node::JobTickets& tickets, Config config, os::LocalListener listener);

  const Config config_;
  os::LocalListener listener_;
  httpd::SessionServer<Local, Session> session_server_;
  TicketDesk ticket_desk_;
};

}  // namespace gw::gateway
